"""A rule of the bucket that ends uploads which nobody finished: their parts are in no listing, and fill the disk."""

from minio import Minio
from minio.commonconfig import ENABLED, Filter
from minio.error import S3Error
from minio.lifecycleconfig import AbortIncompleteMultipartUpload, LifecycleConfig, Rule

from components.core.store.s3_client import S3Settings
from components.core.store.s3_errors import Place, s3_errors

RULE = "gavel-unfinished-uploads"
DAYS = 7
"""Since an upload began. Until then a training that was killed goes on with the parts that are there."""


def end_unfinished(settings: S3Settings, bucket: str) -> str:
    """Give the bucket the rule, and tell in one line what became of it.

    Rules that somebody else gave it are left alone, since a bucket's rules can only be replaced together, and this
    client does not know all of them. A store that takes no such rule is no error: MinIO refuses it and has a setting of
    the server in its place (``MINIO_API_STALE_UPLOADS_EXPIRY``).

    Raises:
        StorageError: the store does not answer.
    """
    client = settings.client(retries=1)
    with s3_errors(Place(settings.endpoint, f"s3://{bucket}")):
        try:
            if _days(client, bucket) is not None:
                return f"unfinished uploads end after {_days(client, bucket)} days, as the bucket's rules say"
            if others := _others(client, bucket):
                return f"the bucket has rules of its own ({others}), none for unfinished uploads: add one there"
            client.set_bucket_lifecycle(bucket, LifecycleConfig([_rule()]))
            if _days(client, bucket) == DAYS:
                return f"unfinished uploads end after {DAYS} days"
        except S3Error as error:
            return f"the store takes no rule for unfinished uploads ({error.code}): see its own settings"
    return "the store dropped the rule for unfinished uploads: see its own settings"


def _rule() -> Rule:
    action = AbortIncompleteMultipartUpload(days_after_initiation=DAYS)
    return Rule(ENABLED, rule_filter=Filter(prefix=""), rule_id=RULE, abort_incomplete_multipart_upload=action)


def _rules(client: Minio, bucket: str) -> list[Rule]:
    found = client.get_bucket_lifecycle(bucket)
    return list(found.rules) if found is not None else []


def _days(client: Minio, bucket: str) -> int | None:
    """After how many days an upload of any name ends; None where nothing says so."""
    for rule in _rules(client, bucket):
        action, narrowed = rule.abort_incomplete_multipart_upload, rule.rule_filter
        whole = narrowed is None or not (narrowed.prefix or narrowed.tag or narrowed.and_operator)
        if action is not None and action.days_after_initiation is not None and rule.status == ENABLED and whole:
            return int(action.days_after_initiation)
    return None


def _others(client: Minio, bucket: str) -> str:
    names = [rule.rule_id or "without a name" for rule in _rules(client, bucket)]
    return ", ".join(name for name in names if name != RULE)
