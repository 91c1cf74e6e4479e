import { apiEndpoints } from '../src/areas.ts'
import { productVersion } from '../src/base/version.ts'
import { openApiDocument } from '../src/http/openapi.ts'

/** Prints the OpenAPI document of the code as it stands: `npm run openapi` keeps it in fixtures/openapi.json. */
const about = {
  title: 'Gitstead REST API',
  version: productVersion,
  serverUrl: 'https://gitstead.example/api/v4',
}
process.stdout.write(`${JSON.stringify(openApiDocument(apiEndpoints, about), null, 1)}\n`)
