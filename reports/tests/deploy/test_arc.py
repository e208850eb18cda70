"""``deploy/arc``: keys that the charts know, a pod that Kubernetes and its namespace take, the fleet's own labels."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from solwatch.workspace.fleet import find_runner, load_fleet

ROOT = Path(__file__).parents[3]
ARC = ROOT / "deploy" / "arc"
CHARTS = Path(__file__).parent / "charts"
VALUES = {
    "h200-values.yaml": "gha-runner-scale-set",
    "controller-values.yaml": "gha-runner-scale-set-controller",
    "device-plugin-values.yaml": "nvidia-device-plugin",
}
UNITS = {"Mi": 2**20, "Gi": 2**30, "m": 1e-3, "": 1.0}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def unknown(values: Any, keys: Any, where: str = "") -> list[str]:
    """Return the paths of the keys in ``values`` that ``keys`` doesn't have."""
    if keys == "any":
        return []
    if not isinstance(values, dict):
        return [f"{where}: {values!r} where keys are expected"]
    wrong = [f"{where}.{key}".lstrip(".") for key in values if key not in keys]
    for key in values.keys() & keys.keys():
        wrong += unknown(values[key], keys[key], f"{where}.{key}")
    return wrong


def quantity(text: str | int) -> float:
    """Return a Kubernetes quantity as a number: ``24Gi``, ``500m``, ``6``."""
    number = str(text).rstrip("GMim")
    return float(number) * UNITS[str(text)[len(number) :]]


@pytest.fixture(scope="module")
def values() -> Any:
    return read(ARC / "h200-values.yaml")


@pytest.fixture(scope="module")
def manifests() -> dict[str, Any]:
    found = {}
    for path in sorted((ARC / "manifests").glob("*.yaml")):
        found |= {each["kind"]: each for each in yaml.safe_load_all(path.read_text(encoding="utf-8"))}
    return found


@pytest.fixture(scope="module")
def runner_container(values: Any) -> Any:
    (container,) = values["template"]["spec"]["containers"]
    assert container["name"] == "runner"  # under another name the chart treats it as a side-car
    return container


@pytest.mark.parametrize(("file", "chart"), VALUES.items())
def test_the_chart_knows_every_key(file: str, chart: str) -> None:
    assert unknown(read(ARC / file), read(CHARTS / f"{chart}.yaml")["keys"]) == []


def test_a_misspelt_key_is_found(values: Any) -> None:
    keys = read(CHARTS / "gha-runner-scale-set.yaml")["keys"]
    wrong = {**values, "minRunner": 0, "template": {"specs": {}}}
    assert unknown(wrong, keys) == ["minRunner", "template.specs"]
    assert unknown({"template": None}, keys) == [".template: None where keys are expected"]


@pytest.mark.parametrize(("file", "chart"), VALUES.items())
def test_values_and_instructions_name_the_version_whose_keys_these_are(file: str, chart: str) -> None:
    version = read(CHARTS / f"{chart}.yaml")["version"]
    assert f"{chart} {version}" in (ARC / file).read_text(encoding="utf-8").splitlines()[0]
    (command,) = [
        block
        for block in (ROOT / "docs" / "runners.md").read_text(encoding="utf-8").split("helm upgrade --install")[1:]
        if f"deploy/arc/{file}" in block.split("```")[0]
    ]
    assert f"--version {version}" in command
    assert f"/{chart}" in command


def test_kubernetes_takes_the_runners_pod(values: Any) -> None:
    kubernetes_validate = pytest.importorskip("kubernetes_validate")  # one of the tools of `make check`
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "runner"}, "spec": values["template"]["spec"]}
    kubernetes_validate.validate(pod, kubernetes_validate.latest_version(), strict=True)
    pod["spec"] = {**pod["spec"], "tolerance": []}
    with pytest.raises(kubernetes_validate.ValidationError, match="tolerance"):
        kubernetes_validate.validate(pod, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("file", ["h200-values.yaml", "fill-cache.yaml"])
def test_the_restricted_namespace_takes_the_pods(file: str, manifests: dict[str, Any]) -> None:
    assert manifests["Namespace"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    document = read(ARC / file)
    pod = (document.get("spec") or document)["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    assert all(not {"hostPath"} & volume.keys() for volume in pod["volumes"])
    for container in pod["containers"]:
        assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def test_the_labels_are_those_of_the_fleets_entry(values: Any, runner_container: Any) -> None:
    path = ROOT / ".github" / "fleet.json"
    entry = find_runner(load_fleet(path), "h200", path)
    assert values["scaleSetLabels"] == entry.labels
    assert entry.ephemeral
    assert runner_container["resources"]["limits"]["nvidia.com/gpu"] == entry.gpu_count == 1


def test_it_scales_from_nothing_to_what_the_quota_allows(
    values: Any, runner_container: Any, manifests: dict[str, Any]
) -> None:
    assert values["minRunners"] == 0
    allowed = manifests["ResourceQuota"]["spec"]["hard"]
    assert int(allowed["requests.nvidia.com/gpu"]) == values["maxRunners"]
    assert int(allowed["pods"]) >= values["maxRunners"]
    for name, asked in runner_container["resources"]["requests"].items():
        assert quantity(asked) * values["maxRunners"] <= quantity(allowed[f"requests.{name}"]), name
    (limits,) = manifests["LimitRange"]["spec"]["limits"]
    for name, most in limits["max"].items():
        assert quantity(runner_container["resources"]["limits"][name]) <= quantity(most), name


def test_no_job_can_write_what_the_next_one_installs(values: Any, runner_container: Any) -> None:
    claims = [volume for volume in values["template"]["spec"]["volumes"] if "persistentVolumeClaim" in volume]
    assert [volume["persistentVolumeClaim"]["readOnly"] for volume in claims] == [True]
    mounts = {mount["name"]: mount for mount in runner_container["volumeMounts"]}
    assert mounts["cache"]["readOnly"] is True
    assert [entry["value"] for entry in runner_container["env"] if entry["name"] == "PIP_FIND_LINKS"] == [
        f"{mounts['cache']['mountPath']}/wheels"
    ]


def test_everything_lies_in_the_namespace_that_the_controller_watches(manifests: dict[str, Any]) -> None:
    namespace = manifests["Namespace"]["metadata"]["name"]
    inside = [each for kind, each in manifests.items() if kind != "Namespace"] + [read(ARC / "fill-cache.yaml")]
    assert {each["metadata"]["namespace"] for each in inside} == {namespace}
    assert read(ARC / "controller-values.yaml")["flags"]["watchSingleNamespace"] == namespace


def test_no_job_reaches_the_cluster_or_the_metadata_service(manifests: dict[str, Any]) -> None:
    policy = manifests["NetworkPolicy"]["spec"]
    assert policy["podSelector"] == {}
    assert set(policy["policyTypes"]) == {"Ingress", "Egress"}
    assert "ingress" not in policy
    (outside,) = [rule for rule in policy["egress"] if "ipBlock" in rule["to"][0]]
    assert "169.254.0.0/16" in outside["to"][0]["ipBlock"]["except"]
    assert [port["port"] for port in outside["ports"]] == [443]


def test_the_cache_holds_the_torch_that_is_tested() -> None:
    (container,) = read(ARC / "fill-cache.yaml")["spec"]["template"]["spec"]["containers"]
    pinned = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("torch==")]
    assert container["command"][-1:] == pinned
