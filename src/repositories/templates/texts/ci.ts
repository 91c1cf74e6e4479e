/** A test job that runs these commands in an image. */
function testIn(image: string, commands: readonly string[], more = ''): string {
  const script = commands.map((command) => `    - ${command}`).join('\n')
  return `image: ${image}\n${more}\ntest:\n  stage: test\n  script:\n${script}\n`
}

function cached(...paths: readonly string[]): string {
  return `\ncache:\n  key: $CI_COMMIT_REF_SLUG\n  paths:\n${paths.map((path) => `    - ${path}`).join('\n')}\n`
}

/** Publishes what a command puts into \`public\`. */
function pagesFrom(image: string, commands: readonly string[]): string {
  const script = commands.map((command) => `    - ${command}`).join('\n')
  return `image: ${image}

pages:
  stage: deploy
  script:
${script}
  artifacts:
    paths:
      - public
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
`
}

/** Starting points for pipelines, by name. */
export const ciTemplates: Readonly<Record<string, string>> = {
  Bash: `# A pipeline that shows the order of things.

before_script:
  - echo "before each job"

build:
  stage: build
  script:
    - echo "build here"

test:
  stage: test
  script:
    - echo "test here"

deploy:
  stage: deploy
  script:
    - echo "deploy here"
  environment: production
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
`,
  'C++': `image: gcc

build:
  stage: build
  script:
    - g++ -Wall -o main main.cpp
  artifacts:
    paths:
      - main

test:
  stage: test
  script:
    - ./main
`,
  Clojure: testIn('clojure:lein', ['lein deps', 'lein test'], cached('.m2')),
  Crystal: testIn('crystallang/crystal', ['shards install', 'crystal spec'], cached('lib')),
  Dart: testIn('dart', ['dart pub get', 'dart analyze', 'dart test'], cached('.pub-cache')),
  Django: `image: python:3

services:
  - postgres

variables:
  POSTGRES_DB: app
  POSTGRES_USER: app
  POSTGRES_PASSWORD: app
  DATABASE_URL: postgres://app:app@postgres/app

test:
  stage: test
  script:
    - pip install -r requirements.txt
    - python manage.py migrate
    - python manage.py test
`,
  Docker: `# Builds an image of each branch and pushes it to the project's registry.

build:
  stage: build
  image: docker
  services:
    - docker:dind
  variables:
    IMAGE: $CI_REGISTRY_IMAGE:$CI_COMMIT_REF_SLUG
  before_script:
    - docker login -u "$CI_REGISTRY_USER" -p "$CI_REGISTRY_PASSWORD" "$CI_REGISTRY"
  script:
    - docker build --pull -t "$IMAGE" .
    - docker push "$IMAGE"
  rules:
    - if: $CI_COMMIT_BRANCH
      exists:
        - Dockerfile
`,
  Elixir: testIn(
    'elixir',
    ['mix local.hex --force', 'mix deps.get', 'mix test'],
    cached('deps', '_build'),
  ),
  Flutter: testIn('ghcr.io/cirruslabs/flutter', [
    'flutter pub get',
    'flutter analyze',
    'flutter test',
  ]),
  'Getting-Started': `# Three stages that run one after another. Put your own commands in.

stages:
  - build
  - test
  - deploy

build-job:
  stage: build
  script:
    - echo "Compiling…"

unit-test-job:
  stage: test
  script:
    - echo "Running unit tests…"

lint-job:
  stage: test
  script:
    - echo "Looking at the style…"

deploy-job:
  stage: deploy
  environment: production
  script:
    - echo "Deploying…"
`,
  Go: `image: golang

format:
  stage: test
  script:
    - test -z "$(gofmt -l .)"
    - go vet ./...
    - go test -race ./...

compile:
  stage: build
  script:
    - mkdir -p bin
    - go build -o bin ./...
  artifacts:
    paths:
      - bin
`,
  Gradle: `image: gradle

variables:
  GRADLE_OPTS: "-Dorg.gradle.daemon=false"
${cached('.gradle')}
build:
  stage: build
  script:
    - gradle --build-cache assemble

test:
  stage: test
  script:
    - gradle check
  artifacts:
    reports:
      junit: build/test-results/test/**/TEST-*.xml
`,
  Julia: testIn('julia', [
    `julia --project=@. -e "using Pkg; Pkg.build(); Pkg.test(coverage=true)"`,
  ]),
  Kotlin: testIn('gradle', ['gradle ktlintCheck test'], cached('.gradle')),
  LaTeX: `image: texlive/texlive

pdf:
  stage: build
  script:
    - latexmk -pdf
  artifacts:
    paths:
      - "*.pdf"
`,
  Laravel: testIn(
    'php:cli',
    ['composer install', 'cp .env.example .env', 'php artisan key:generate', 'php artisan test'],
    cached('vendor'),
  ),
  Maven: `image: maven

variables:
  MAVEN_OPTS: "-Dmaven.repo.local=$CI_PROJECT_DIR/.m2/repository"
${cached('.m2/repository')}
verify:
  stage: test
  script:
    - mvn --batch-mode --errors verify
  artifacts:
    reports:
      junit: target/surefire-reports/TEST-*.xml
`,
  Nodejs: testIn('node:lts', ['npm ci', 'npm test'], cached('.npm')),
  PHP: testIn('php:cli', ['composer install', 'vendor/bin/phpunit'], cached('vendor')),
  'Pages/HTML': pagesFrom('busybox', ['mkdir .public', 'cp -r ./* .public', 'mv .public public']),
  'Pages/Hugo': pagesFrom('hugomods/hugo', ['hugo --minify']),
  'Pages/Jekyll': pagesFrom('ruby', ['bundle install', 'bundle exec jekyll build -d public']),
  'Pages/MkDocs': pagesFrom('python:3', [
    'pip install mkdocs',
    'mkdocs build --strict --site-dir public',
  ]),
  Python: `image: python:3

variables:
  PIP_CACHE_DIR: "$CI_PROJECT_DIR/.cache/pip"
${cached('.cache/pip')}
before_script:
  - python --version
  - python -m venv venv
  - . venv/bin/activate

test:
  stage: test
  script:
    - pip install ruff pytest
    - pip install -e .
    - ruff check .
    - pytest
`,
  Rails: `image: ruby

services:
  - postgres

variables:
  POSTGRES_PASSWORD: app
  DATABASE_URL: postgresql://postgres:app@postgres/app
  RAILS_ENV: test
${cached('vendor/ruby')}
test:
  stage: test
  script:
    - bundle config set --local path vendor
    - bundle install --jobs "$(nproc)"
    - bin/rails db:setup
    - bin/rails test
`,
  Ruby: testIn(
    'ruby',
    ['bundle config set --local path vendor', 'bundle install', 'bundle exec rake'],
    cached('vendor/ruby'),
  ),
  Rust: testIn(
    'rust',
    ['rustc --version', 'cargo fmt --check', 'cargo clippy -- -D warnings', 'cargo test --locked'],
    cached('target'),
  ),
  Scala: testIn('sbtscala/scala-sbt', ['sbt clean test'], cached('.ivy2', 'target')),
  Swift: testIn('swift', ['swift build', 'swift test'], cached('.build')),
  Terraform: `image:
  name: hashicorp/terraform
  entrypoint: [""]

stages:
  - validate
  - plan
  - deploy
${cached('.terraform')}
before_script:
  - terraform init -input=false

validate:
  stage: validate
  script:
    - terraform fmt -check -recursive
    - terraform validate

plan:
  stage: plan
  script:
    - terraform plan -input=false -out=plan.cache
  artifacts:
    paths:
      - plan.cache

apply:
  stage: deploy
  script:
    - terraform apply -input=false plan.cache
  when: manual
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
`,
  dotNET: testIn('mcr.microsoft.com/dotnet/sdk', [
    'dotnet restore',
    'dotnet build --no-restore',
    'dotnet test --no-build',
  ]),
}
