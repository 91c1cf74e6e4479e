FROM eclipse-temurin:21 AS build
WORKDIR /src
COPY . .
RUN ./mvnw --batch-mode package -DskipTests

FROM eclipse-temurin:21-jre
COPY --from=build /src/target/*.jar /app.jar
CMD ["java", "-jar", "/app.jar"]
