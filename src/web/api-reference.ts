import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import express, { type Router } from 'express'

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gitstead API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</html>
`

const START = `SwaggerUIBundle({
  url: '../api/v4/openapi.json',
  dom_id: '#page',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  filter: true,
  validatorUrl: null,
})
`

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

/** The API reference page at `/-/docs`, drawn from the served document by files of this machine alone. */
export function apiReference(): Router {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const files = ['swagger-ui.css', 'swagger-ui-bundle.js']
  const routes = express.Router({ caseSensitive: true })
  routes.use((_request, response, next) => {
    response.setHeader('Content-Security-Policy', POLICY)
    response.setHeader('X-Content-Type-Options', 'nosniff')
    next()
  })
  routes.get('/docs', (_request, response) => {
    response.type('text/html').send(PAGE)
  })
  routes.get('/docs/start.js', (_request, response) => {
    response.type('text/javascript').send(START)
  })
  for (const name of files) {
    routes.get(`/docs/${name}`, (_request, response) => {
      response.sendFile(name, { root: folder })
    })
  }
  return routes
}
