"""Wrong key, unknown model, wrong route, nobody there: the check and the probe name the judge and what to do."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from chat_servers import ChatServer, completion, say
from judge_servers import spec

from components.core.errors import JudgeError
from components.core.spec.reward import RewardSpec
from components.judge.__main__ import main
from components.judge.probing.run import probe

KEY = "TEST_JUDGE_KEY"

CASES = {
    "wrong key": (ChatServer(say({"error": {"message": "bad key"}}, 401)), f"the key in {KEY} is not accepted"),
    "unknown model": (
        ChatServer(say({"error": {"message": "The model does not exist", "code": "model_not_found"}}, 404)),
        "is not served there",
    ),
    "wrong route": (ChatServer(say(completion()), routes=("/openai/v1/chat/completions",)), "KServe /openai/v1"),
}


@contextlib.asynccontextmanager
async def served(case: str) -> AsyncIterator[tuple[str, str]]:
    server, remedy = CASES[case]
    async with server.serve() as url:
        yield url, remedy


@pytest.mark.parametrize("case", sorted(CASES))
async def test_the_check_names_judge_and_remedy(
    case: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "not-the-right-one")
    async with served(case) as (url, remedy):
        command = ["check", "--judge", "external-example", f"endpoint={url}", f"api_key_env={KEY}", "attempts=1"]
        code = await asyncio.to_thread(main, command)
    told = capsys.readouterr()
    assert code == 1
    assert told.out.startswith("judge external-example: ")
    assert url in told.out
    assert remedy in told.out.partition("remedy: ")[2]
    assert "not-the-right-one" not in told.out + told.err


@pytest.mark.parametrize("protocol", ["rubric", "rubric_per_criterion", "verif"])
@pytest.mark.parametrize("case", sorted(CASES))
async def test_the_probe_names_judge_and_remedy(case: str, protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "not-the-right-one")
    reward = RewardSpec(name="r", protocol=protocol, value="binary")  # type: ignore[arg-type]
    async with served(case) as (url, remedy):
        with pytest.raises(JudgeError) as caught:
            await probe(spec(attempts=1, api_key_env=KEY), reward, url)
    assert caught.value.where == f"judge scripted at {url}"
    assert remedy in caught.value.remedy
    assert "not-the-right-one" not in str(caught.value)


def test_a_key_that_is_not_set_names_judge_variable_and_remedy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY, raising=False)
    command = ["check", "--judge", "external-example", "endpoint=http://127.0.0.1:9", f"api_key_env={KEY}"]
    assert main(command) == 1
    told = capsys.readouterr().err
    assert f"the environment variable {KEY} is not set" in told
    assert "judge external-example: api_key_env" in told
    assert f"export {KEY}=" in told.partition("remedy:")[2]
    # Nothing reads such a file.
    assert ".env" not in told


async def test_a_judge_that_says_nothing_readable_is_named_with_a_remedy() -> None:
    reward = RewardSpec(name="r", protocol="rubric", value="binary")
    async with ChatServer(say(completion("What a nice sentence!"))).serve() as url:
        with pytest.raises(JudgeError) as caught:
            await probe(spec(), reward, url)
    assert "unparseable" in caught.value.what
    assert caught.value.where == f"judge scripted at {url}"
    assert "larger judge" in caught.value.remedy


@pytest.mark.parametrize("logprobs", [True, False])
async def test_a_weak_judge_that_cannot_chat_is_to_be_asked_without_words(logprobs: bool) -> None:
    reward = RewardSpec(name="r", protocol="rubric", value="binary")
    weak = spec(weak="A small model.", logprobs=logprobs)
    async with ChatServer(say(completion("What a nice sentence!"))).serve() as url:
        with pytest.raises(JudgeError) as caught:
            await probe(weak, reward, url)
    assert "may not chat" in caught.value.remedy
    assert ("reward.protocol=likelihood_ratio" in caught.value.remedy) == logprobs
    assert "it says 'What a nice sentence!'" in caught.value.what
    async with ChatServer(say({"error": {"message": "bad key"}}, 401)).serve() as url:
        with pytest.raises(JudgeError) as caught:
            await probe(weak, reward, url)
    assert "may not chat" not in caught.value.remedy


async def test_the_reply_is_shown_as_the_model_wrote_it() -> None:
    reward = RewardSpec(name="r", protocol="rubric", value="binary")
    async with ChatServer(say(completion("Seven small words of no use.", finish="tool_calls"))).serve() as url:
        with pytest.raises(JudgeError) as caught:
            await probe(spec(attempts=1), reward, url)
    assert "it says 'Seven small words of no use.'" in caught.value.what
