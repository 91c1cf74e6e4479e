import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { apiEndpoints } from '../../src/areas.ts'
import { productVersion } from '../../src/base/version.ts'
import { openApiDocument, operationId } from '../../src/http/openapi.ts'

const agreed = new URL('../../fixtures/openapi.json', import.meta.url)
const serverUrl = 'https://gitstead.example/api/v4'

test('the document kept in fixtures is what the endpoints declare (npm run openapi)', () => {
  const about = { title: 'Gitstead REST API', version: productVersion, serverUrl }
  const found = JSON.parse(JSON.stringify(openApiDocument(apiEndpoints, about)))
  expect(found).toEqual(JSON.parse(readFileSync(agreed, 'utf8')))
})

test('every operation has a name of its own', () => {
  const names = apiEndpoints.map(operationId)
  const twice = names.filter((name, at) => names.indexOf(name) !== at)
  expect(twice).toEqual([])
})
