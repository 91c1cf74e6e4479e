import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import express, { type Router } from 'express'

const folder = fileURLToPath(new URL('./assets/', import.meta.url))
let names: Readonly<Record<string, string>> | undefined

/** Where a file of the pages is served, by the name that it has in the sources: `main.js`, `style.css`, `icons.svg`. */
export function assetPath(name: string): string {
  // Written by set-up as a JSON object of texts.
  names ??= JSON.parse(readFileSync(`${folder}manifest.json`, 'utf8')) as Record<string, string>
  const file = names[name]
  if (file === undefined) throw new Error(`set-up has made no file ${name} for pages`)
  return `/-/assets/${file}`
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The scripts, the style sheet and the icons of pages: named by what they hold, so that browsers keep them for good. */
export function assetFiles(): Router {
  const routes = express.Router({ caseSensitive: true })
  routes.get('/assets/:file', (request, response, next) => {
    const { file } = request.params
    const type = types[file.split('.').at(-1) ?? '']
    if (!/^[\w-]+\.(?:js|css|svg)$/.test(file) || type === undefined) return next()
    const encoding = request.acceptsEncodings('br', 'gzip')
    const suffix = encoding === 'br' ? '.br' : encoding === 'gzip' ? '.gz' : ''
    const headers = {
      'Content-Type': type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      Vary: 'Accept-Encoding',
      ...(suffix === '' ? {} : { 'Content-Encoding': encoding as string }),
    }
    response.sendFile(file + suffix, { root: folder, headers, cacheControl: false }, (error) => {
      if (error) next()
    })
  })
  return routes
}
