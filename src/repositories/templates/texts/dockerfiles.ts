/** Starting points for images, by language or server. */
export const dockerfiles: Readonly<Record<string, string>> = {
  Binary: `FROM debian:stable-slim

RUN useradd --system app
COPY app /usr/local/bin/app
USER app
CMD ["app"]
`,
  Golang: `FROM golang AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -o /app .

FROM gcr.io/distroless/static
COPY --from=build /app /app
USER nonroot
ENTRYPOINT ["/app"]
`,
  HTTPd: `FROM httpd:alpine

COPY ./ /usr/local/apache2/htdocs/
`,
  Node: `FROM node:lts-alpine

WORKDIR /usr/src/app
ENV NODE_ENV=production
COPY package*.json ./
RUN npm ci --omit=dev
COPY . .
USER node
EXPOSE 8080
CMD ["npm", "start"]
`,
  OpenJDK: `FROM eclipse-temurin:21 AS build
WORKDIR /src
COPY . .
RUN ./mvnw --batch-mode package -DskipTests

FROM eclipse-temurin:21-jre
COPY --from=build /src/target/*.jar /app.jar
CMD ["java", "-jar", "/app.jar"]
`,
  PHP: `FROM php:apache

RUN docker-php-ext-install pdo_mysql
COPY . /var/www/html/
`,
  Python: `FROM python:3-slim

WORKDIR /usr/src/app
COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt
COPY . .
RUN useradd --system app
USER app
CMD ["python", "app.py"]
`,
  Ruby: `FROM ruby:slim

WORKDIR /usr/src/app
COPY Gemfile Gemfile.lock ./
RUN bundle config set --local deployment true && bundle install
COPY . .
CMD ["ruby", "app.rb"]
`,
  Rust: `FROM rust AS build
WORKDIR /src
COPY . .
RUN cargo install --path . --root /out

FROM debian:stable-slim
COPY --from=build /out/bin/* /usr/local/bin/
CMD ["app"]
`,
  Swift: `FROM swift AS build
WORKDIR /src
COPY . .
RUN swift build -c release

FROM swift:slim
COPY --from=build /src/.build/release/App /app
CMD ["/app"]
`,
}
