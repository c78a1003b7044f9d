# A server of models:
#   docker build -t tagtopics .
#   docker run --read-only --tmpfs /tmp -v "$PWD/models:/models:ro" -p 127.0.0.1:8000:8000 tagtopics
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
RUN python -m venv /opt/tagtopics && /opt/tagtopics/bin/pip install --no-cache-dir ".[serve,images]"

FROM python:3.13-slim
# The packages belong to root; the user of the server can write only to the cache of compiled code.
COPY --from=build /opt/tagtopics /opt/tagtopics
ENV PATH=/opt/tagtopics/bin:/usr/local/bin:/usr/bin:/bin PYTHONUNBUFFERED=1 XDG_CACHE_HOME=/var/cache/tagtopics
RUN install --directory --mode=700 --owner=10001 --group=10001 /var/cache/tagtopics
USER 10001:10001
VOLUME ["/models", "/var/cache/tagtopics"]
WORKDIR /models
EXPOSE 8000
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://localhost:8000/health')"]
ENTRYPOINT ["tagtopics"]
CMD ["serve", "model.tt", "--host", "0.0.0.0"]
