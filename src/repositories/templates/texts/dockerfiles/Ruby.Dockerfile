FROM ruby:slim

WORKDIR /usr/src/app
COPY Gemfile Gemfile.lock ./
RUN bundle config set --local deployment true && bundle install
COPY . .
CMD ["ruby", "app.rb"]
