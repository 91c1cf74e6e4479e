import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newFolder } from '../../support/database.ts'
import { freePort } from '../../support/free-port.ts'
import { git } from '../../support/git.ts'
import { gitClient } from '../../support/git-client.ts'
import { isThere } from '../../support/needed.ts'
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts'
import { type Asked, type AskOptions, ask } from './ask.ts'
import { makeCertificate } from './certificate.ts'
import { type Nginx, startNginx } from './nginx.ts'

const token = 'root-token-of-this-test'
const hasNginx = isThere('nginx', existsSync('/usr/sbin/nginx'))
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

// As in docs/proxy-and-tls.md.
const headers = `
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_http_version 1.1;
      client_max_body_size 0;
      proxy_buffering off;
      proxy_request_buffering off;`

describe.skipIf(!hasNginx).each([
  { manner: 'leaves the path as it is', below: '' },
  { manner: 'takes the path away', below: '$below' },
])('below a path of another site, behind an nginx with TLS that $manner', ({ below }) => {
  const folder = newFolder()
  const certificate = makeCertificate(folder, 'site')
  const ca = readFileSync(certificate.cert, 'utf8')
  let server: ServerProcess
  let nginx: Nginx
  let site = ''
  let home = ''

  beforeAll(async () => {
    const [port, near] = [await freePort(), await freePort()]
    site = `https://localhost:${port}`
    home = `${site}/git`
    server = await startServerProcess(join(folder, 'data'), {
      GITSTEAD_PORT: String(near),
      GITSTEAD_EXTERNAL_URL: home,
      GITSTEAD_TRUSTED_PROXIES: '127.0.0.1',
    })
    // With a path in `proxy_pass` nginx would decode the `%2F` in the names of projects.
    const maps = 'map $request_uri $below { "~^/git(?<rest>/.*)$" $rest; }'
    const locations = `
    location /git/ {
      proxy_pass http://127.0.0.1:${near}${below};${headers}
    }
    location /v2/ {
      proxy_pass http://127.0.0.1:${near};${headers}
    }
    location / {
      return 418;
    }`
    nginx = await startNginx(join(folder, 'nginx'), { ...certificate, port, locations, maps })
  }, 120_000)
  afterAll(async () => {
    await nginx?.stop()
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const api = async (method: string, address: string, body?: unknown) => {
    const type = { 'private-token': token, 'content-type': 'application/json' }
    const given: AskOptions = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await ask(ca, `${home}/api/v4${address}`, { method, headers: type, ...given })
    return { ...answer, body: answer.body === '' ? null : JSON.parse(answer.body) }
  }

  test('API, git, large files and links', async () => {
    const made = await api('POST', '/projects', { name: 'demo', path: 'demo' })
    expect(made).toMatchObject({
      status: 201,
      body: { web_url: `${home}/root/demo`, http_url_to_repo: `${home}/root/demo.git` },
    })
    expect(await api('GET', '/projects/root%2Fdemo')).toMatchObject({
      status: 200,
      body: { id: 1 },
    })
    const list = await api('GET', '/projects?per_page=1&simple=true')
    expect(list.headers.link).toContain(`<${home}/api/v4/projects?`)

    const work = join(folder, 'work')
    git(folder, ['init', '-q', '-b', 'main', work])
    writeFileSync(join(work, 'a.txt'), 'a\n')
    git(work, ['add', '.'])
    git(work, ['commit', '-qm', 'first'])
    const url = `${home.replace('//', `//root:${token}@`)}/root/demo.git`
    const env = { GIT_SSL_CAINFO: certificate.cert }
    await gitClient(work, ['push', '-q', url, 'main'], env)
    await gitClient(folder, ['clone', '-q', url, 'copy'], env)
    expect(git(join(folder, 'copy'), ['rev-parse', 'HEAD'])).toBe(git(work, ['rev-parse', 'HEAD']))

    const text = 'a large file'
    const large = { oid: digestOf(text), size: text.length }
    const type = 'application/vnd.git-lfs+json'
    const basic = { authorization: `Basic ${Buffer.from(`root:${token}`).toString('base64')}` }
    const batch = await ask(ca, `${home}/root/demo.git/info/lfs/objects/batch`, {
      method: 'POST',
      headers: { ...basic, accept: type, 'content-type': type },
      body: JSON.stringify({ operation: 'upload', transfers: ['basic'], objects: [large] }),
    })
    expect(batch.status).toBe(200)
    const { href, header } = JSON.parse(batch.body).objects[0].actions.upload
    expect(href).toMatch(new RegExp(`^${home}/root/demo\\.git/`))
    const uploaded = await ask(ca, href, { method: 'PUT', headers: header, body: text })
    expect(uploaded.status).toBe(200)
  })

  test('packages, and images of which clients ask at the top of the site', async () => {
    const basic = { authorization: `Basic ${Buffer.from(`root:${token}`).toString('base64')}` }
    const index = await api('GET', '/projects/1/packages/nuget/index.json')
    const places: string[] = index.body.resources.map((one: { '@id': string }) => one['@id'])
    expect(places.length).toBeGreaterThan(1)
    for (const place of places) expect(place).toContain(`${home}/api/v4/`)

    const asked = await ask(ca, `${site}/v2/`)
    expect(asked.status).toBe(401)
    const realm = /realm="([^"]+)"/.exec(String(asked.headers['www-authenticate']))?.[1]
    expect(realm).toBe(`${home}/jwt/auth`)
    const scope = 'service=container_registry&scope=repository:root/demo:pull,push'
    const allowed = await ask(ca, `${realm}?${scope}`, { headers: basic })
    const bearer = { authorization: `Bearer ${JSON.parse(allowed.body).token}` }
    for (const place of [site, home]) {
      const layer = `a layer by ${place}`
      const begun = await ask(ca, `${place}/v2/root/demo/blobs/uploads/`, {
        method: 'POST',
        headers: bearer,
      })
      expect(begun.status).toBe(202)
      const location = String(begun.headers.location)
      const end = `${location}${location.includes('?') ? '&' : '?'}digest=sha256:${digestOf(layer)}`
      const put = { method: 'PUT', headers: bearer, body: layer }
      expect((await ask(ca, end, put)).status).toBe(201)
      const blob = `${place}/v2/root/demo/blobs/sha256:${digestOf(layer)}`
      expect(await ask(ca, blob, { headers: bearer })).toMatchObject({ status: 200, body: layer })
    }
  })

  test('pages with their style, signing in, forms and where they lead', async () => {
    const page = await ask(ca, `${home}/users/sign_in`)
    expect(page.status).toBe(200)
    const places = [...page.body.matchAll(/(?:href|src|action)="([^"#]+)"/g)].map(
      ([, place]) => place,
    )
    expect(places.length).toBeGreaterThan(4)
    for (const place of places) expect(place).toMatch(/^\/git(\/|$)/)
    const style = places.find((place) => place?.endsWith('.css'))
    expect((await ask(ca, site + style)).status).toBe(200)
    const cookieOf = (answer: Asked) =>
      (answer.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ')
    const form = cookieOf(page)
    expect(page.headers['set-cookie']?.[0]).toMatch(/^__Host-.*; Secure/)
    const secret = /name="authenticity_token" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
    const signedIn = await ask(ca, `${home}/users/sign_in`, {
      method: 'POST',
      headers: {
        cookie: form,
        origin: site,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({
        authenticity_token: secret,
        return_to: '/root/demo',
        'user[login]': 'root',
        'user[password]': 'root-password-of-this-test',
      }).toString(),
    })
    expect([signedIn.status, signedIn.headers.location]).toEqual([303, '/git/root/demo'])
    const session = { cookie: `${form}; ${cookieOf(signedIn)}` }
    const project = await ask(ca, `${home}/root/demo`, { headers: session })
    expect([project.status, project.body.includes(`${home}/root/demo.git`)]).toEqual([200, true])
    // What git and people type without `.git` leads on below the path.
    const bare = await ask(ca, `${home}/root/demo.git`)
    expect(new URL(String(bare.headers.location), `${home}/root/`).href).toBe(`${home}/root/demo`)
  })

  test('mails, and the address from which somebody came', async () => {
    await api('POST', '/projects/1/invitations', { email: 'eve@example.com', access_level: 30 })
    const outbox = join(folder, 'data/outbox')
    const mails = () =>
      existsSync(outbox)
        ? readdirSync(outbox).map((one) => readFileSync(join(outbox, one), 'utf8'))
        : []
    await expect
      .poll(() => mails().join('\n').replaceAll('=\n', '').replaceAll('=\r\n', ''), {
        timeout: 20_000,
      })
      .toContain(`administrator of ${home} for an account`)
    expect(server.said()).not.toContain('is not believed')
  })
})
