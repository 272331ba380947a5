# One image for API, worker, migrations and commands; the command selects which (docker-compose.yml shows each). The
# last stage is the product; `--target development` also contains the sandbox provider and other stand-ins.
#
# Every stage starts from NODE_IMAGE. The tag moves; `npm run images:pin` writes the digest that a release was tested
# with, here and in docker-compose.yml, and CI refuses a release without a digest.
ARG NODE_IMAGE=node:24-bookworm-slim@sha256:235600a8101ab264e117b1768e925532262668dc9b581ef1dd7d96ced463b8e7
FROM ${NODE_IMAGE} AS base
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

# The install scripts fetch a Node and binaries for development; the image brings its own Node.
FROM base AS development
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN mkdir dist && PART_OPTIONS='{"file":"/app/dist/workflows.js"}' node dev/bundle.ts \
  && mkdir /var/lib/sandbox && chown node:node /var/lib/sandbox
USER node

# Leaves out packages with stricter licences, which are never loaded here (dev/licenses.ts), and files for other
# platforms.
FROM base AS dependencies
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/caniuse-lite
COPY dev/prune-packages.ts dev/
RUN node dev/prune-packages.ts

FROM base
LABEL org.opencontainers.image.title=amanah org.opencontainers.image.version=1.0.0 org.opencontainers.image.licenses=MIT
ENV NODE_ENV=production WORKFLOW_BUNDLE=/app/dist/workflows.js PORT=3000
COPY --from=dependencies /app/node_modules node_modules
COPY mikro-orm.config.ts ./
COPY src src
COPY workflows workflows
COPY activities activities
# The API serves these to app developers, and as packages to partners.
COPY docs/app-first-hour.md docs/
COPY sdk sdk
COPY --from=development /app/dist dist
# The product writes only to /tmp: run it with a read-only root, without capabilities (as docker-compose.yml does).
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
CMD ["node", "--max-semi-space-size=16", "--max-old-space-size=384", "src/api.ts"]
