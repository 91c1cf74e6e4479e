FROM rust AS build
WORKDIR /src
COPY . .
RUN cargo install --path . --root /out

FROM debian:stable-slim
COPY --from=build /out/bin/* /usr/local/bin/
CMD ["app"]
