"""A script's biases are looked at where the study is read: a judge of others would not come up."""

import pytest

from components.core.errors import ConfigError
from components.core.spec.source import ScriptedSource
from components.core.spec.study_load import load_study

_STUDY = """
name: scripts
experiment: {{use: tiny, training: {{steps: 2}}}}
judges:
  - judge: {{use: scripted-plain, source: {{kind: scripted, biases: {{{axis}: 0.5}}}}}}
    rewards: [rubric]
seeds: [1]
controls: []
probes: {{names: [style], modes: [binary], items: 10}}
drift: null
"""


def test_a_bias_on_no_axis_is_a_mistake_of_the_study() -> None:
    with pytest.raises(ConfigError, match="no scripted judge has an axis 'verbosty'") as caught:
        load_study(_STUDY.format(axis="verbosty"))
    assert "did you mean verbosity?" in str(caught.value)


def test_a_bias_on_an_axis_is_none() -> None:
    source = load_study(_STUDY.format(axis="verbosity")).arms[0].experiment.judge.source
    assert isinstance(source, ScriptedSource)
    assert dict(source.biases) == {"verbosity": 0.5}
