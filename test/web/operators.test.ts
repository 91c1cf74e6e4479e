import { createServer, type Server, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { Browser } from '../support/browser.ts'
import { freePort } from '../support/free-port.ts'
import { addProject } from '../support/project.ts'
import { givePassword, PASSWORD } from '../support/submit-form.ts'
import { openWorld, type World } from '../support/world.ts'

const opened: World[] = []
const servers: Server[] = []
afterAll(async () => {
  for (const server of servers) server.close()
  for (const world of opened) await world.close()
})

async function open(config: Parameters<typeof openWorld>[0]): Promise<World> {
  const world = await openWorld(config)
  opened.push(world)
  return world
}

/** A proxy that serves `/git/…` of a port from the server, which sees the paths without it. */
async function serveBelow(world: World, port: number): Promise<void> {
  const to = new URL(world.url)
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    if (!path.startsWith('/git/')) return response.writeHead(502).end('not below /git')
    const { method, headers } = request
    const options = { port: to.port, host: to.hostname, method, headers, path: path.slice(4) }
    const passed = send(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(response)
    })
    return request.pipe(passed)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  expect((server.address() as AddressInfo).port).toBe(port)
}

/** The addresses of a page that are this server's. */
function ownAddresses(text: string) {
  const all = [...text.matchAll(/ (href|src|action)="([^"]*)"/g)]
  return all
    .map(([, name = '', address = '']) => ({ name, address }))
    .filter(({ address }) => !/^(?:#|https?:\/\/(?!127\.0\.0\.1)|mailto:|data:)/.test(address))
}

describe('below a path of a host', () => {
  test('every link and form leads to what is served there', async () => {
    const port = await freePort()
    const base = `http://127.0.0.1:${port}/git`
    const world = await open({ externalUrl: base })
    await serveBelow(world, port)
    const ana = await world.user('ana')
    await givePassword(world, ana.id)
    await addProject(world, ana, 'basic', { path: 'open', visibility: 'public' })
    const browser = new Browser(`http://127.0.0.1:${port}`)
    const away = await browser.get('/git/dashboard/todos')
    expect(away.location).toBe('/git/users/sign_in?return_to=%2Fdashboard%2Ftodos')
    const form = await browser.get(away.location ?? '')
    const fields = { 'user[login]': 'ana', 'user[password]': PASSWORD }
    const into = await browser.submit(form, '/git/users/sign_in', fields)
    expect(into.location).toBe('/git/dashboard/todos')

    const pages = ['/', '/ana/open', '/ana/open/-/commits/main', '/-/user_settings/profile']
    const seen = new Set<string>()
    for (const page of [...pages, '/search?search=open', '/ana', '/explore']) {
      const { status, text } = await browser.get(`/git${page}`)
      expect([page, status]).toEqual([page, 200])
      for (const { name, address } of ownAddresses(text)) {
        expect([page, name, address]).toEqual([page, name, expect.stringMatching(/^\/git(\/|$)/)])
        if (name !== 'action') seen.add(address.replaceAll('&amp;', '&').replace(/#.*/, ''))
      }
    }
    const broken: unknown[] = []
    for (const address of seen) {
      const { status } = await browser.get(address)
      if (status >= 400) broken.push([address, status])
    }
    expect(broken).toEqual([])
  }, 120_000)
})

describe('pages that are switched off', () => {
  test('are one line, while the API and git go on', async () => {
    const world = await open({ pages: 'off' })
    const ana = await world.user('ana')
    const project = await addProject(world, ana, 'basic', { path: 'open', visibility: 'public' })
    const browser = new Browser(world.url)
    for (const path of ['/', '/ana/open', '/ana/open/-/tree/main', '/users/sign_in', '/none']) {
      const { status, text } = await browser.get(path)
      expect([path, status, text.trimEnd().split('\n').length]).toEqual([path, 404, 1])
      expect(text).toContain('GITSTEAD_PAGES')
    }
    expect((await browser.post('/users/sign_in', {})).status).toBe(404)
    expect((await ana.get(`/projects/${project.id}`)).status).toBe(200)
    const refs = await fetch(`${world.url}/ana/open.git/info/refs?service=git-upload-pack`)
    expect(refs.status).toBe(200)
    expect(await (await browser.get('/robots.txt')).text).toContain('Disallow: /\n')
  })
})

describe('what browsers, crawlers and programs ask for', () => {
  test('is there', async () => {
    const world = await open({})
    const ana = await world.user('ana')
    const project = await addProject(world, ana, 'basic', { path: 'open', visibility: 'public' })
    const robots = await fetch(`${world.url}/robots.txt`)
    expect(robots.headers.get('content-type')).toContain('text/plain')
    expect(await robots.text()).toContain('Disallow: /api/')
    for (const path of ['/-/assets/favicon', '/favicon.ico']) {
      const icon = await fetch(world.url + path)
      expect([icon.status, icon.headers.get('content-type')]).toEqual([
        200,
        expect.stringMatching(/^image\/svg\+xml/),
      ])
    }
    const lead = async (path: string) => {
      const headers = { Accept: 'application/json' }
      const reply = await fetch(world.url + path, { headers, redirect: 'manual' })
      return [reply.status, reply.headers.get('location')]
    }
    expect(await lead('/ana/open')).toEqual([302, '/api/v4/projects/ana%2Fopen'])
    expect(await lead('/ana')).toEqual([302, '/api/v4/users?username=ana'])
    expect(await lead('/explore?name=x')).toEqual([
      302,
      '/api/v4/projects?search=x&order_by=last_activity_at&page=1',
    ])
    const list = await lead('/ana/open/-/merge_requests')
    expect(list[1]).toContain('/api/v4/projects/ana%2Fopen/merge_requests?state=opened')
    const headers = { Accept: 'application/json' }
    const followed = await fetch(`${world.url}/ana/open`, { headers })
    expect((await followed.json()).id).toBe(project.id)
    // Browsers that take anything get the page.
    const page = await fetch(`${world.url}/ana/open`, {
      headers: { Accept: 'text/html,application/json' },
    })
    expect(page.headers.get('content-type')).toContain('text/html')
  })

  test('a missing page looks as all others do', async () => {
    const world = await open({})
    const browser = new Browser(world.url)
    const { status, text, headers } = await browser.get('/nowhere/-/raw/main/none')
    expect(status).toBe(404)
    expect(text).toContain('There is nothing at this address')
    expect(text).toContain('/-/assets/style')
    expect(headers.get('content-security-policy')).not.toContain('unsafe-inline')
  })
})
