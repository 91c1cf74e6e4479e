import { describe, expect, test } from 'vitest'
import { useWorld } from '../support/world.ts'

const world = useWorld()

describe('the API conventions', () => {
  test('an unknown path answers 404 with the key error', async () => {
    const reply = await world.root.get('/nothing/here')
    expect([reply.status, reply.body]).toEqual([404, { error: '404 Not Found' }])
  })
  test('needless slashes do not matter', async () => {
    for (const path of ['//version', '/version/', '/version//']) {
      expect((await world.root.get(path)).status).toBe(200)
    }
  })
  test('a known path with another method answers 405 and tells the methods', async () => {
    const reply = await world.root.delete('/version')
    expect([reply.status, reply.body]).toEqual([405, { error: '405 Not Allowed' }])
    expect(reply.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  })
  test('OPTIONS tells the methods', async () => {
    const reply = await world.root.call('OPTIONS', '/version')
    expect([reply.status, reply.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
  })
  test('HEAD answers as GET without a body', async () => {
    const reply = await world.root.head('/version')
    expect([reply.status, reply.body]).toEqual([200, ''])
    expect(reply.headers.get('content-type')).toBe('application/json')
  })
  test('nobody is 401, a wrong token too', async () => {
    for (const caller of [world.nobody, world.as('wrong')]) {
      const reply = await caller.get('/version')
      expect([reply.status, reply.body]).toEqual([401, { message: '401 Unauthorized' }])
    }
  })
  test('the token is found in parameter, header and Bearer', async () => {
    const token = await world.token(world.root.id, ['read_api'])
    const ways = [
      world.nobody.get(`/version?private_token=${token}`),
      world.nobody.get('/version', { headers: { Authorization: `Bearer ${token}` } }),
      world.nobody.get('/version', { headers: { 'PRIVATE-TOKEN': token } }),
    ]
    for (const way of ways) expect((await way).status).toBe(200)
  })
  test('a token without the scope answers 403 insufficient_scope', async () => {
    const token = await world.token(world.root.id, ['read_repository'])
    const reply = await world.as(token).get('/version')
    expect(reply.status).toBe(403)
    expect(reply.body.error).toBe('insufficient_scope')
  })
  test('a blocked user answers 403', async () => {
    const user = await world.user('blocked-one')
    await world.ctx.db
      .updateTable('users')
      .set({ state: 'blocked' })
      .where('id', '=', user.id)
      .execute()
    expect((await user.get('/version')).status).toBe(403)
  })
  test('sudo acts as another user, for administrators with the scope only', async () => {
    const ana = await world.user('sudo-ana')
    const asked = (caller: typeof ana, sudo: string) =>
      caller.get('/version', { headers: { Sudo: sudo } })
    expect((await asked(world.root, 'sudo-ana')).status).toBe(200)
    expect((await asked(world.root, String(ana.id))).status).toBe(200)
    const missing = await asked(world.root, 'nobody-here')
    expect(missing.body).toEqual({
      message: "404 User with ID or username 'nobody-here' Not Found",
    })
    const refused = await asked(ana, 'root')
    expect(refused.body).toEqual({ message: '403 Forbidden - Must be admin to use sudo' })
    const weak = world.as(await world.token(world.root.id, ['api']))
    expect((await asked(weak, 'sudo-ana')).body.scope).toContain('sudo')
  })
  test('every answer carries the common headers', async () => {
    const { headers } = await world.root.get('/version', { headers: { 'X-Request-Id': 'abc-1' } })
    expect(headers.get('x-request-id')).toBe('abc-1')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('vary')).toBe('Origin')
    expect(headers.get('x-runtime')).toMatch(/^\d/)
  })
  test('a query that is too long answers 414', async () => {
    expect((await world.root.get(`/version?a=${'x'.repeat(9000)}`)).status).toBe(414)
  })
  test('the document of the API is served', async () => {
    const reply = await world.nobody.get('/openapi.json')
    expect(reply.body.openapi).toBe('3.1.0')
    expect(reply.body.paths['/version'].get.summary).toContain('version')
  })
})

describe('the API reference page', () => {
  test('is served with everything it loads, from this server alone', async () => {
    const page = await fetch(`${world.url}/-/docs`)
    const html = await page.text()
    expect(page.headers.get('content-type')).toContain('text/html')
    for (const [, path] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const asset = await fetch(new URL(path ?? '', `${world.url}/-/docs`))
      expect([path, asset.status]).toEqual([path, 200])
    }
    // Large files are read as they are sent, and nobody waits for it: a part alone is no trouble.
    const headers = { Range: 'bytes=0-99' }
    const part = await fetch(`${world.url}/-/docs/swagger-ui-bundle.js`, { headers })
    expect([part.status, part.headers.get('content-type')?.split(';')[0]]).toEqual([
      206,
      'text/javascript',
    ])
    expect((await part.text()).length).toBe(100)
    expect(html).not.toMatch(/https?:\/\//)
  })
})
