# Tabwright with Chromium, the headless shell and fonts, as a user of its own.
#   docker build -t tabwright .
#   docker run --rm -p 127.0.0.1:8330:8330 -e TABWRIGHT_API_KEYS=… --read-only --tmpfs /tmp -v tabwright-data:/data tabwright

FROM debian:bookworm-slim AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
RUN python3 -m venv /opt/tabwright
COPY requirements.lock ./
RUN /opt/tabwright/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY browser_service ./browser_service
COPY fetch ./fetch
COPY search ./search
COPY stealth ./stealth
RUN /opt/tabwright/bin/pip install --no-cache-dir --disable-pip-version-check --no-index --no-deps --no-build-isolation .

FROM debian:bookworm-slim
# libatomic1 is for Playwright's driver; tini takes in orphans and passes signals on.
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        ca-certificates python3 tini libatomic1 \
        chromium chromium-headless-shell chromium-sandbox \
        fonts-liberation fonts-noto-cjk fonts-noto-color-emoji \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --home-dir /data --create-home --shell /usr/sbin/nologin tabwright
COPY --from=build /opt/tabwright /opt/tabwright
# Only /data and /tmp are written to, so the rest may be mounted read-only.
ENV PATH=/opt/tabwright/bin:$PATH \
    HOME=/data \
    PYTHONDONTWRITEBYTECODE=1 \
    TABWRIGHT_DATA_DIR=/data \
    TABWRIGHT_HOST=0.0.0.0 \
    TABWRIGHT_LOG_FORMAT=json \
    TABWRIGHT_POOL__INSTALL=false
USER tabwright
WORKDIR /data
VOLUME /data
EXPOSE 8330
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
    CMD ["python3", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8330/health', timeout=4)"]
ENTRYPOINT ["/usr/bin/tini", "--", "tabwright"]
CMD ["serve"]
