"""The path of a problem of HumanEval: the template of code, the executor model, public tests, the deciding tests."""

from components.tasks.score import TaskScorer
from components.workflow.baselines import as_response, hand_written
from components.workflow.broker.broker import Broker, Enhance
from components.workflow.broker.executor import ExecutorModel
from components.workflow.checks.finding import Finding
from components.workflow.checks.problems import CODE
from components.workflow.contract.outcome import Invalid
from components.workflow.contract.validator import Validator
from components.workflow.run.execution import Status
from components.workflow.run.executor import Executor
from components.workflow.service import SIGNATURES
from components.workflow.types import Budget


async def check_humaneval(
    model: ExecutorModel,
    validator: Validator,
    scorer: TaskScorer,
    budget: Budget,
    *,
    enhance: Enhance | None = None,
    scripted: bool,
) -> list[Finding]:
    """Run the template.

    Args:
        model: answers the operators.
        validator: of programs.
        scorer: of answers.
        budget: of the execution.
        enhance: layer 2.
        scripted: whether the model's answers are known: then Test must mend the program, and the answer must be right.
            Of any other model it is enough that its calls come through.

    Raises:
        ServiceError: there is no sandbox on this machine.
    """
    name = f"HumanEval with {model.name}"
    plan = await validator.validate(as_response(hand_written(CODE.problem)))
    if isinstance(plan, Invalid):
        return [Finding(f"{name}: template", False, f"not valid, {plan.reason}: {plan.detail}")]
    executor = Executor(lambda problem, limits: Broker(model, limits, problem, enhance), SIGNATURES, concurrency=1)
    try:
        ran = await executor.run(plan, CODE.problem, budget)
    finally:
        await executor.close()
    took = f"{len(ran.trace)} calls, {ran.cost.tokens} tokens, {ran.seconds:.1f} s"
    if ran.answer is None:
        # A model that writes no program makes a workflow fail; one that is down, or a sandbox, makes it abstain.
        told = f"{ran.status}, {ran.reason}: {ran.detail}; {took}"
        return [Finding(f"{name}: run", False, told, needed=scripted or ran.status is Status.ABSTAINED)]
    found = [Finding(f"{name}: run", True, f"answered; {took}")]
    tested = next((call for call in ran.trace if call.operator == "Test"), None)
    outputs = None if tested is None else tested.outputs
    passed = outputs is not None and outputs["result"] is True
    why = "mended until they pass" if passed else f"not passed: {tested.error if tested is not None else 'not called'}"
    found.append(Finding(f"{name}: public tests", passed, why, needed=scripted))
    score = await scorer.score(CODE.gold, ran.answer)
    told = {True: "passed", False: f"not passed, {score.detail}", None: f"unknown, {score.detail}"}[score.correct]
    needed = scripted or score.correct is None
    found.append(Finding(f"{name}: deciding tests", score.correct is True, told, needed=needed))
    return found
