"""The policy for accounts of steps and trainers: what the store's code asks for, on the one bucket."""

import json
import re

from manifest_objects import MANIFESTS, ROOT
from ray_training import on_cluster

# The permission that each request needs: "Actions, resources, and condition keys for Amazon S3" of AWS's service
# authorization reference. Completing and beginning an upload in parts, and each of its parts, are s3:PutObject; HEAD is
# s3:GetObject.
NEEDED = {
    "list_objects": "s3:ListBucket",
    "get_object": "s3:GetObject",
    "stat_object": "s3:GetObject",
    "put_object": "s3:PutObject",
    "_create_multipart_upload": "s3:PutObject",
    "_upload_part": "s3:PutObject",
    "_complete_multipart_upload": "s3:PutObject",
    "_abort_multipart_upload": "s3:AbortMultipartUpload",
    "_list_parts": "s3:ListMultipartUploadParts",
    "_list_multipart_uploads": "s3:ListBucketMultipartUploads",
    "remove_object": "s3:DeleteObject",
    "remove_objects": "s3:DeleteObject",
}
ADMINISTRATION = {"make_bucket"}
"""Asked with ``create=True`` alone: by the bucket's job, and for the server of `make demo`."""


def test_it_allows_what_the_stores_code_asks_and_no_more() -> None:
    asked = {
        name
        for path in (ROOT / "components/core/store").glob("*.py")
        for name in re.findall(r"client\.(_?\w+)\(", path.read_text())
    }
    assert asked - ADMINISTRATION == NEEDED.keys()
    allowed = {action for part in statements() for action in part["Action"]}
    # Clients look up the bucket's region.
    assert allowed == {*NEEDED.values(), "s3:GetBucketLocation"}


def test_it_is_for_the_clusters_bucket_alone() -> None:
    bucket = on_cluster("h800").cluster.store.bucket
    assert {resource for part in statements() for resource in part["Resource"]} == {
        f"arn:aws:s3:::{bucket}",
        f"arn:aws:s3:::{bucket}/*",
    }
    assert all(part["Effect"] == "Allow" for part in statements())


def statements() -> list[dict[str, list[str]]]:
    found: list[dict[str, list[str]]] = json.loads((MANIFESTS / "store-policy.json").read_text())["Statement"]
    return found
