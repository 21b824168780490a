"""``python -m components.train --store URL --request KEY``: the entrypoint of a training's RayJob."""

import argparse
import sys

from components.train.driver import drive

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m components.train", description="Train inside a RayJob.")
    parser.add_argument("--store", required=True, help="root of the store: s3://BUCKET/PREFIX or file:///FOLDER")
    parser.add_argument("--request", required=True, help="key of the request in it")
    chosen = parser.parse_args()
    sys.exit(drive(chosen.store, chosen.request))
