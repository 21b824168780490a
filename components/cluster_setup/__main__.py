"""The command line: ``python -m components.cluster_setup COMMAND``."""

import argparse
import sys
from collections.abc import Sequence

from components.core.errors import GavelError


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    made = argparse.ArgumentParser(prog="python -m components.cluster_setup", description=__doc__)
    commands = made.add_subparsers(dest="command", required=True)
    for name, text in (
        ("deploy", "apply an overlay and wait for its store"),
        ("render", "print what deploy would apply to this cluster, and change nothing"),
        ("undeploy", "delete what an overlay brought"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--overlay", required=True, help="dev, h800, or a folder with a kustomization.yaml")
        command.add_argument("--context", default=None, help="of the kubeconfig; default: its current one")
        if name == "undeploy":
            command.add_argument("--data", action="store_true", help="also claims, Secrets and the namespace")
            command.add_argument(
                "--force", action="store_true", help="although judges, trainings or another overlay are there"
            )
            continue
        command.add_argument("--allow-tags", action="store_true", help="images by tag, not by digest")
        command.add_argument("--partial", action="store_true", help="leave out what needs products that are missing")
        if name == "deploy":
            command.add_argument("--wait", type=float, default=600.0, help="seconds for the store to come up")
    bucket = commands.add_parser("bucket", help="make the store's bucket; runs inside the cluster")
    bucket.add_argument("name")
    return made


def run(options: argparse.Namespace) -> None:
    """Do what the command line asks for."""
    if options.command == "bucket":
        from components.cluster_setup.bucket import ensure

        ensure(options.name)
        return
    from components.cluster_setup.deploy import Options, deploy, prepare
    from components.cluster_setup.kubectl import Kubectl, dump
    from components.cluster_setup.undeploy import undeploy

    kubectl = Kubectl.find(options.context)
    if options.command == "undeploy":
        undeploy(kubectl, options.overlay, data=options.data, force=options.force)
    elif options.command == "deploy":
        deploy(kubectl, options.overlay, Options(options.allow_tags, options.partial, options.wait))
    else:
        allowed = Options(options.allow_tags, options.partial)
        objects = prepare(kubectl, options.overlay, allowed, lambda line: print(line, file=sys.stderr))
        print(dump(objects), end="")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    try:
        run(parser().parse_args(arguments))
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
