FROM swift AS build
WORKDIR /src
COPY . .
RUN swift build -c release

FROM swift:slim
COPY --from=build /src/.build/release/App /app
CMD ["/app"]
