import express, { type Router } from 'express'
import type { Config } from '../base/config.ts'

// The icon `git-merge` of the pages, in a colour that is seen on light and dark tabs.
const FAVICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#1f6fc2" d="M5.45 5.154A4.25 4.25 0 0 0 9.25 7.5h1.378a2.251 2.251 0 1 1 0 1.5H9.25A5.734 5.734 0 0 1 5 7.123v3.505a2.25 2.25 0 1 1-1.5 0V5.372a2.25 2.25 0 1 1 1.95-.218ZM4.25 13.5a.75.75 0 1 0 0-1.5.75.75 0 0 0 0 1.5Zm8.5-4.5a.75.75 0 1 0 0-1.5.75.75 0 0 0 0 1.5ZM5 3.25a.75.75 0 1 0 0 .005V3.25Z"/></svg>'

/** Of what is endless, or dear to make, crawlers get nothing; the rest of public projects is theirs. */
const NOT_CRAWLED = [
  '/api/',
  '/-/',
  '/*/-/blame/',
  '/*/-/commits/',
  '/*/-/compare/',
  '/*/-/archive/',
  '/*/-/raw/',
  '/dashboard/',
  '/search',
  '/users/',
  '/oauth/',
]

/** What browsers and crawlers ask a site for by themselves. */
export function siteFiles({ externalUrl, pages }: Pick<Config, 'externalUrl' | 'pages'>): Router {
  const base = new URL(externalUrl).pathname.replace(/\/$/, '')
  const forbidden = pages === 'on' ? NOT_CRAWLED.map((path) => base + path) : [`${base}/`]
  const rules = ['User-agent: *', ...forbidden.map((path) => `Disallow: ${path}`), ''].join('\n')
  const routes = express.Router({ caseSensitive: true })
  routes.get('/robots.txt', (_request, response) => {
    response.type('text/plain').setHeader('Cache-Control', 'public, max-age=3600').send(rules)
  })
  routes.get(['/favicon.ico', '/-/assets/favicon'], (_request, response) => {
    response
      .type('image/svg+xml')
      .setHeader('Cache-Control', 'public, max-age=86400')
      .setHeader('X-Content-Type-Options', 'nosniff')
      .setHeader('Content-Security-Policy', "default-src 'none'; sandbox")
      .send(FAVICON)
  })
  return routes
}
