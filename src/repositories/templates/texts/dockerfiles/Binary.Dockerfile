FROM debian:stable-slim

RUN useradd --system app
COPY app /usr/local/bin/app
USER app
CMD ["app"]
