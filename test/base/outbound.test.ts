import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { makeOutbound, type OutboundOptions } from '../../src/base/outbound/outbound.ts'
import { makeGuard, OutboundError } from '../../src/base/outbound/outbound-guard.ts'

const servers: net.Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    if (server instanceof http.Server) server.closeAllConnections()
    server.close()
  }
})

async function serve(handler: http.RequestListener): Promise<number> {
  const server = http.createServer(handler)
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Names as a test's DNS knows them. */
function outbound(more: Partial<OutboundOptions> & { names?: Record<string, string[]> } = {}) {
  const { names = {}, ...options } = more
  return makeOutbound({
    allow: [],
    timeoutMs: 2000,
    maxSize: 100_000,
    resolve: async (name) => names[name] ?? [],
    ...options,
  })
}

async function reasonOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'none'
  } catch (error) {
    return error instanceof OutboundError ? error.reason : `other: ${String(error)}`
  }
}

describe('what is no public address is blocked, at save and at connect', () => {
  test.each([
    'http://127.1',
    'http://127.0.0.1:8080/x',
    'http://0177.0.0.1',
    'http://0x7f.1',
    'http://2130706433',
    'http://[::ffff:127.0.0.1]',
    'http://[::ffff:7f00:1]',
    'http://[64:ff9b::7f00:1]',
    'http://[64:ff9b::127.0.0.1]',
    'http://[2002:7f00:1::]',
    'http://[::127.0.0.1]',
    'http://[::]',
    'http://[::1]',
    'http://[fd00::1]',
    'http://[fe80::1]',
    'http://[ff02::1]',
    'http://0.0.0.0',
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1',
    'http://172.31.255.255',
    'http://192.168.1.1',
    'http://100.64.0.1',
    'http://224.0.0.1',
    'http://255.255.255.255',
    'http://metadata.google.internal',
    'http://localhost',
    'http://localhost.',
    'http://LOCALHOST',
    'http://x.localhost',
    'http://printer.local',
    'http://127。0。0。1',
    'http://①②⑦.0.0.1',
    'http://a@127.0.0.1#@b',
    'http://b.example@127.0.0.1/',
    'https://127.0.0.1%2f@127.0.0.1/',
  ])('%s', async (url) => {
    expect(await reasonOf(outbound().assertMayAsk(url))).toBe('blocked')
    expect(await reasonOf(outbound().request(url))).toBe('blocked')
  })
})

describe('what is no web address is refused', () => {
  test.each([
    'ext::sh -c touch% /tmp/x',
    'file:///etc/passwd',
    'ssh://-oProxyCommand=touch/x',
    'gopher://example.com',
    'ftp://example.com',
    '--upload-pack=touch',
    'javascript:alert(1)',
    'http://',
    '',
    'http://exa mple.com',
  ])('%s', async (url) => {
    expect(await reasonOf(outbound().assertMayAsk(url))).toBe('bad_url')
    expect(await reasonOf(outbound().request(url))).toBe('bad_url')
  })
})

describe('names', () => {
  test('that have no address yet may be saved, and are checked when they are asked', async () => {
    const names: Record<string, string[]> = {}
    const it = outbound({ names })
    await it.assertMayAsk('http://later.example')
    names['later.example'] = ['10.0.0.1']
    expect(await reasonOf(it.request('http://later.example'))).toBe('blocked')
  })

  test('with a private address among public ones are blocked', async () => {
    const it = outbound({ names: { 'mixed.example': ['93.184.216.34', '127.0.0.1'] } })
    expect(await reasonOf(it.request('http://mixed.example'))).toBe('blocked')
  })

  test('that change between check and connection still lead to the address that was checked', async () => {
    const port = await serve((_request, response) => response.end('here'))
    let asked = 0
    const it = outbound({
      allow: [`flip.example:${port}`],
      resolve: async () => [asked++ === 0 ? '127.0.0.1' : '127.0.0.99'],
    })
    const response = await it.request(`http://flip.example:${port}/`)
    expect((await response.read()).toString()).toBe('here')
    expect(asked).toBe(1)
  })

  test('are the Host that the other side sees', async () => {
    const port = await serve((request, response) => response.end(request.headers.host))
    const it = outbound({ allow: [`up.example:${port}`], names: { 'up.example': ['127.0.0.1'] } })
    const response = await it.request(`http://up.example:${port}/`)
    expect((await response.read()).toString()).toBe(`up.example:${port}`)
  })
})

describe('the allow list', () => {
  const guard = (allow: string[], names: Record<string, string[]> = {}) =>
    makeGuard({ allow, resolve: async (name) => names[name] ?? [] })

  test.each([
    ['10.0.0.7', 'http://10.0.0.7/', 'none'],
    ['10.0.0.7', 'http://10.0.0.8/', 'blocked'],
    ['10.0.0.7:8081', 'http://10.0.0.7:8081/', 'none'],
    ['10.0.0.7:8081', 'http://10.0.0.7/', 'blocked'],
    ['10.1.0.0/16', 'http://10.1.2.3/', 'none'],
    ['10.1.0.0/16', 'http://10.2.2.3/', 'blocked'],
    ['10.1.0.0/16', 'http://[::ffff:10.1.2.3]/', 'none'],
    ['[fd00::7]:80', 'http://[fd00::7]/', 'none'],
    ['fd00::/8', 'http://[fd12::7]/', 'none'],
    ['nexus.lan', 'http://nexus.lan/', 'none'],
    ['nexus.lan', 'http://other.lan/', 'blocked'],
    ['nexus.lan', 'http://10.0.0.1/', 'blocked'],
    ['localhost', 'http://localhost/', 'none'],
    ['127.0.0.1', 'http://localhost/', 'none'],
    ['127.0.0.0/8:80', 'http://localhost/', 'none'],
    ['127.0.0.0/8:81', 'http://localhost/', 'blocked'],
    ['127.0.0.2', 'http://localhost/', 'blocked'],
    ['10.0.0.0/8', 'http://maven.internal/', 'none'],
    ['10.0.0.3', 'http://maven.internal/', 'none'],
    ['10.0.0.4', 'http://maven.internal/', 'blocked'],
    ['10.0.0.0/8', 'http://public.internal/', 'blocked'],
    ['10.0.0.0/8', 'http://both.internal/', 'blocked'],
    ['10.0.0.0/8', 'http://unknown.internal/', 'blocked'],
    ['10.0.0.0/8', 'http://unknown.example/', 'unreachable'],
  ])('of %s lets %s be: %s', async (entry, url, reason) => {
    const names = {
      'nexus.lan': ['10.0.0.1'],
      'other.lan': ['10.0.0.2'],
      'maven.internal': ['10.0.0.3'],
      'public.internal': ['93.184.216.34'],
      'both.internal': ['10.0.0.3', '169.254.169.254'],
      localhost: ['::1', '127.0.0.1'],
    }
    expect(await reasonOf(guard([entry], names).resolve(url))).toBe(reason)
  })

  test('of one address of this machine is asked there alone', async () => {
    const it = guard(['127.0.0.1'], { localhost: ['::1', '127.0.0.1'] })
    expect((await it.resolve('http://localhost/')).addresses).toEqual(['127.0.0.1'])
  })

  test('of addresses says nothing of names that a proxy looks up', async () => {
    const it = makeGuard({ allow: ['127.0.0.1'], proxied: true })
    expect(await reasonOf(it.resolve('http://localhost/'))).toBe('blocked')
  })

  test('of one address does not open another behind the same name', async () => {
    const it = guard(['10.0.0.7'], { 'lan.example': ['10.0.0.7', '10.0.0.8'] })
    expect(await reasonOf(it.resolve('http://lan.example/'))).toBe('blocked')
  })
})

describe('redirects', () => {
  test('to private addresses and other protocols are not followed', async () => {
    const port = await serve((request, response) => {
      const to = decodeURIComponent(request.url?.slice(1) ?? '')
      response.writeHead(302, { location: to }).end()
    })
    const it = outbound({ allow: [`127.0.0.1:${port}`] })
    const go = (to: string) =>
      reasonOf(it.request(`http://127.0.0.1:${port}/${encodeURIComponent(to)}`))
    expect(await go('http://169.254.169.254/')).toBe('blocked')
    expect(await go('http://127.0.0.1:1/')).toBe('blocked')
    expect(await go('file:///etc/passwd')).toBe('bad_url')
    expect(await go('gopher://example.com/')).toBe('bad_url')
  })

  test('without an end are cut off', async () => {
    let asked = 0
    const port = await serve((_request, response) => {
      asked++
      response.writeHead(302, { location: '/' }).end()
    })
    const it = outbound({ allow: [`127.0.0.1:${port}`] })
    expect(await reasonOf(it.request(`http://127.0.0.1:${port}/`))).toBe('redirects')
    expect(asked).toBe(6)
  })

  test('to another host take no secrets along, to the same host all', async () => {
    const seen: http.IncomingHttpHeaders[] = []
    const other = await serve((request, response) => {
      seen.push(request.headers)
      response.end()
    })
    const port = await serve((request, response) => {
      if (request.url === '/stay') response.writeHead(307, { location: '/away' }).end()
      else {
        seen.push(request.headers)
        response.writeHead(307, { location: `http://127.0.0.1:${other}/` }).end()
      }
    })
    const it = outbound({ allow: ['127.0.0.1'] })
    await it.request(`http://127.0.0.1:${port}/stay`, {
      headers: { Authorization: 'Bearer x', 'Private-Token': 'y', Accept: 'text/plain' },
    })
    expect(seen[0]).toMatchObject({ authorization: 'Bearer x', 'private-token': 'y' })
    expect(seen[1]).toMatchObject({ accept: 'text/plain' })
    expect(seen[1]).not.toHaveProperty('authorization')
    expect(seen[1]).not.toHaveProperty('private-token')
  })

  test('of a POST become a GET, unless the status says otherwise', async () => {
    const seen: string[] = []
    const port = await serve((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers['content-length'] ?? '-'}`)
      const status = Number(request.url?.slice(1))
      if (status) response.writeHead(status, { location: '/' })
      response.end()
    })
    const it = outbound({ allow: ['127.0.0.1'] })
    for (const status of [302, 308]) {
      await it.request(`http://127.0.0.1:${port}/${status}`, { method: 'POST', body: 'abc' })
    }
    expect(seen).toEqual(['POST /302 3', 'GET / -', 'POST /308 3', 'POST / 3'])
  })
})

describe('an upstream that misbehaves', () => {
  test('by never ending its body is cut off at the size limit', async () => {
    const port = await serve((_request, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(20_000)), 1)
      response.on('close', () => clearInterval(timer))
    })
    const it = outbound({ allow: ['127.0.0.1'] })
    const response = await it.request(`http://127.0.0.1:${port}/`)
    expect(await reasonOf(response.read())).toBe('too_large')
  })

  test('by announcing too much is not read at all', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '999999' })
      response.flushHeaders()
    })
    const it = outbound({ allow: ['127.0.0.1'] })
    expect(await reasonOf(it.request(`http://127.0.0.1:${port}/`))).toBe('too_large')
  })

  test('by a body that unpacks to too much is cut off', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const port = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    })
    const it = outbound({ allow: ['127.0.0.1'] })
    const response = await it.request(`http://127.0.0.1:${port}/`)
    expect(await reasonOf(response.read())).toBe('too_large')
  })

  test('by a byte now and then runs into the deadline', async () => {
    const port = await serve((_request, response) => {
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    })
    const it = outbound({ allow: ['127.0.0.1'], timeoutMs: 1000 })
    const response = await it.request(`http://127.0.0.1:${port}/`)
    expect(await reasonOf(response.read())).toBe('timeout')
  })

  test('by never answering runs into the deadline', async () => {
    const port = await serve(() => {})
    const it = outbound({ allow: ['127.0.0.1'], timeoutMs: 100 })
    expect(await reasonOf(it.request(`http://127.0.0.1:${port}/`))).toBe('timeout')
  })

  test('by closing early is damaged, never a short answer', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('only this')
      setTimeout(() => response.destroy(), 20)
    })
    const it = outbound({ allow: ['127.0.0.1'] })
    const response = await it.request(`http://127.0.0.1:${port}/`)
    expect(await reasonOf(response.read())).toBe('damaged')
  })

  test('by speaking no HTTP is unreachable', async () => {
    const server = net.createServer((socket) => socket.end('hello\r\n\r\n'))
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const it = outbound({ allow: ['127.0.0.1'] })
    expect(await reasonOf(it.request(`http://127.0.0.1:${port}/`))).toBe('unreachable')
  })

  test('leaves nothing behind when the caller gives up', async () => {
    let closed = false
    const port = await serve((_request, response) => {
      response.write('x')
      response.on('close', () => {
        closed = true
      })
    })
    const it = outbound({ allow: ['127.0.0.1'] })
    const giveUp = new AbortController()
    const response = await it.request(`http://127.0.0.1:${port}/`, { signal: giveUp.signal })
    const reading = response.read()
    giveUp.abort(new Error('gave up'))
    await expect(reading).rejects.toThrow('gave up')
    await expect.poll(() => closed).toBe(true)
  })
})

test('an answer that nobody reads ends at the deadline, and with it nothing else', async () => {
  let closed = false
  const port = await serve((_request, response) => {
    response.write('x')
    response.on('close', () => {
      closed = true
    })
  })
  const it = outbound({ allow: ['127.0.0.1'], timeoutMs: 50 })
  const { body } = await it.request(`http://127.0.0.1:${port}/`)
  await expect.poll(() => closed).toBe(true)
  expect(body.errored).toMatchObject({ reason: 'timeout' })
})

test('an answer is unpacked, unless it is wanted as it came', async () => {
  const port = await serve((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('hello'))
  })
  const it = outbound({ allow: ['127.0.0.1'] })
  expect((await (await it.request(`http://127.0.0.1:${port}/`)).read()).toString()).toBe('hello')
  const raw = await it.request(`http://127.0.0.1:${port}/`, { raw: true })
  expect(await raw.read()).toEqual(gzipSync('hello'))
})

test('user and password of a URL are sent as Basic, and not in the request line', async () => {
  const port = await serve((request, response) =>
    response.end(`${request.url} ${request.headers.authorization}`),
  )
  const it = outbound({ allow: ['127.0.0.1'] })
  const response = await it.request(`http://me:p%40ss@127.0.0.1:${port}/a?b=1#c`)
  const expected = Buffer.from('me:p@ss').toString('base64')
  expect((await response.read()).toString()).toBe(`/a?b=1 Basic ${expected}`)
})

describe('by way of a proxy', () => {
  test('names are not looked up here, and private addresses stay blocked', async () => {
    const proxyPort = await serve((request, response) => response.end(`proxied ${request.url}`))
    const it = outbound({
      proxy: `http://127.0.0.1:${proxyPort}`,
      resolve: async () => {
        throw new Error('no DNS here')
      },
    })
    const response = await it.request('http://registry.example/a')
    expect((await response.read()).toString()).toBe('proxied http://registry.example/a')
    expect(await reasonOf(it.request('http://169.254.169.254/'))).toBe('blocked')
  })

  test('https goes through a tunnel, and certificates are checked unless a hook says otherwise', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gitstead-tls-'))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const made = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=registry.example']
    execFileSync('openssl', ['req', ...made, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    const pair = { key: readFileSync(key), cert: readFileSync(cert) }
    rmSync(folder, { recursive: true })
    const target = https.createServer(pair, (request, response) =>
      response.end(`${request.headers.host} ${request.url}`),
    )
    servers.push(target)
    target.listen(0, '127.0.0.1')
    await once(target, 'listening')
    const asked: unknown[] = []
    const server = http.createServer()
    servers.push(server)
    server.on('connect', (request, socket) => {
      asked.push(request.url, request.headers['proxy-authorization'])
      const inner = net.connect((target.address() as AddressInfo).port, '127.0.0.1')
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(inner).pipe(socket)
      inner.on('error', () => socket.destroy())
      socket.on('error', () => inner.destroy())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const it = outbound({ proxy: `http://me:secret@127.0.0.1:${port}` })
    expect(await reasonOf(it.request('https://registry.example/a'))).toBe('unreachable')
    const response = await it.request('https://registry.example/a?b', { insecure: true })
    expect((await response.read()).toString()).toBe('registry.example /a?b')
    const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`
    expect(asked).toEqual(['registry.example:443', basic, 'registry.example:443', basic])
    target.closeAllConnections()
  })

  test('a tunnel that the proxy refuses is unreachable', async () => {
    const server = http.createServer()
    servers.push(server)
    server.on('connect', (_request, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const it = outbound({ proxy: `http://127.0.0.1:${port}` })
    expect(await reasonOf(it.request('https://registry.example/a'))).toBe('unreachable')
    await pause(1)
  })
})
