# The main job in a box: no key, no network, no privileges.
#
#     docker build --tag ltm-bench .
#     docker run --rm --network none ltm-bench
#     docker run --rm --volume "$PWD:/work" --env OPENAI_API_KEY ltm-bench run --span 32k --agent gpt-6-luna
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY ltm_bench ltm_bench
COPY scenarios scenarios
COPY agents agents
COPY configs configs
RUN python -m pip wheel --no-cache-dir --wheel-dir /wheels .

FROM python:3.13-slim
LABEL org.opencontainers.image.title="ltm-bench" \
      org.opencontainers.image.description="What a conversational agent still remembers after one long, live, seeded conversation" \
      org.opencontainers.image.licenses="MIT"
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m pip install --no-cache-dir --no-index --find-links=/wheels /wheels/ltm_bench-*.whl \
    && useradd --uid 10001 --create-home bench \
    && install --directory --owner=bench --group=bench /work
USER 10001
WORKDIR /work
ENTRYPOINT ["ltm-bench"]
CMD ["run"]
