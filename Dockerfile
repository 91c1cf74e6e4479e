# docker build -t gitstead . && docker run --init -p 8080:8080 -v gitstead:/data -e GITSTEAD_EXTERNAL_URL=http://localhost:8080 gitstead
FROM node:20-bookworm AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends git bzip2 python3 make g++ libkrb5-dev libssl-dev
WORKDIR /source
COPY . .
RUN npm run bundle -- /release \
  && mkdir /opt/gitstead \
  && tar -xzf /release/gitstead-*.tar.gz -C /opt/gitstead --strip-components=1

FROM node:20-bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends git bzip2 ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --system --no-create-home --home-dir /data --shell /usr/sbin/nologin gitstead \
  && install -d -o gitstead -g gitstead -m 0700 /data
COPY --from=build /opt/gitstead /opt/gitstead
USER gitstead
ENV GITSTEAD_DATA=/data GITSTEAD_HOST=0.0.0.0 GITSTEAD_PORT=8080
VOLUME /data
EXPOSE 8080
HEALTHCHECK --start-period=60s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.GITSTEAD_PORT + '/-/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/opt/gitstead/gitstead"]
CMD ["serve"]
