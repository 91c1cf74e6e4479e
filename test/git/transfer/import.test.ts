import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeOutbound } from '../../../src/base/outbound/outbound.ts'
import { startGit } from '../../../src/git/command.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { importRepository } from '../../../src/git/transfer/import.ts'
import { commitFiles, fsck } from '../../support/fast-import.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let source: Repo
let server: Server
let address: string
/** What the server does besides serving git. */
let behaviour: { password?: string; dumb?: boolean; dumbForGit?: boolean }
let seen: { url: string; authorization: string | undefined }[]

beforeAll(async () => {
  world = openGitWorld()
  source = await world.repository()
  commitFiles(source, { files: { a: '1\n' } })
  commitFiles(source, { files: { b: '2\n' }, ref: 'refs/heads/side', parents: [] })
  git(source.path, ['tag', '-m', 'One', 'v1', 'main'])
  server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  behaviour = {}
  seen = []
})
afterAll(async () => {
  server.close()
  await world.close()
})

function sendFile(file: string, response: ServerResponse): void {
  response.writeHead(existsSync(file) ? 200 : 404, { 'content-type': 'text/plain' })
  response.end(existsSync(file) ? readFileSync(file) : '')
}

/** A small git server: smart HTTP of the fixed repository, a password if asked for, redirects. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', address)
  const { authorization } = request.headers
  seen.push({ url: url.pathname, authorization })
  const wanted = behaviour.password && Buffer.from(`ana:${behaviour.password}`).toString('base64')
  if (wanted && authorization !== `Basic ${wanted}`) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
  } else if (url.pathname.startsWith('/moved/')) {
    response
      .writeHead(302, { location: `${address}${request.url?.replace('/moved/', '/demo.git/')}` })
      .end()
  } else if (url.pathname.startsWith('/inside/')) {
    response.writeHead(302, { location: `http://10.0.0.1${request.url}` }).end()
  } else if (behaviour.dumbForGit && request.headers['user-agent']?.startsWith('git/')) {
    sendFile(join(source.path, url.pathname.slice('/demo.git/'.length)), response)
  } else if (url.pathname === '/demo.git/info/refs' && !behaviour.dumb) {
    await serve(request, response, true)
  } else if (url.pathname === '/demo.git/git-upload-pack') {
    await serve(request, response, false)
  } else {
    response.writeHead(behaviour.dumb ? 200 : 404, { 'content-type': 'text/plain' }).end()
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  refs: boolean,
): Promise<void> {
  const kind = refs ? 'advertisement' : 'result'
  response.writeHead(200, { 'content-type': `application/x-git-upload-pack-${kind}` })
  if (refs) response.write('001e# service=git-upload-pack\n0000')
  const body =
    request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
  const args = [
    'upload-pack',
    '--stateless-rpc',
    ...(refs ? ['--advertise-refs'] : []),
    source.path,
  ]
  startGit({ args, stdin: body }).stdout.pipe(response)
}

let count = 0
function options(extra: Partial<Parameters<typeof importRepository>[1]> = {}) {
  count += 1
  const outbound = makeOutbound({ allow: ['127.0.0.1'], timeoutMs: 5000, maxSize: 1e6 })
  return { scratch: join(world.folder, `scratch-${count}`), outbound, ...extra }
}

describe('an import', () => {
  test('brings every branch and tag, checked, and moves in on request', async () => {
    const said: string[] = []
    const how = options({ onProgress: (text) => said.push(text) })
    const { head, fetched } = await importRepository({ url: `${address}/demo.git` }, how)
    expect(head).toEqual({ objectFormat: 'sha1', branch: 'main' })
    expect(fetched.refs.map((ref) => ref.name)).toEqual([
      'refs/heads/main',
      'refs/heads/side',
      'refs/tags/v1',
    ])
    const target = await world.repository()
    await fetched.moveInto(target)
    for (const { name, id } of fetched.refs) git(target.path, ['update-ref', name, id])
    expect(fsck(target)).toBe('')
    expect(git(target.path, ['show', 'main:a'])).toBe('1')
    expect(said.join()).toMatch(/\d+%/)
    rmSync(how.scratch, { recursive: true })
  })

  test('signs in with what is in the address, and says when that is wrong', async () => {
    behaviour = { password: 's3cret!' }
    const url = `${address}/demo.git`.replace('//', '//ana:s3cret%21@')
    const { fetched } = await importRepository({ url }, options())
    expect(fetched.refs).toHaveLength(3)
    const wrong = importRepository({ url, password: 'wrong' }, options())
    await expect(wrong).rejects.toMatchObject({ code: 'invalid', detail: { status: 401 } })
  })

  test('follows a redirect once, before git is started', async () => {
    const { fetched } = await importRepository({ url: `${address}/moved/` }, options())
    expect(fetched.refs).toHaveLength(3)
    expect(seen.filter(({ url }) => url.startsWith('/moved/'))).toHaveLength(1)
  })

  test('that grows too large is given up', async () => {
    const small = importRepository({ url: `${address}/demo.git` }, options({ maxBytes: 100 }))
    await expect(small).rejects.toMatchObject({ code: 'too_large' })
  })

  test('ends when the caller goes away', async () => {
    const signal = AbortSignal.abort()
    await expect(
      importRepository({ url: `${address}/demo.git` }, options({ signal })),
    ).rejects.toThrow()
  })
})

describe('an import is refused', () => {
  test.each([
    ['a local path', '/etc'],
    ['a file address', 'file:///etc'],
    ['a command', 'ext::sh -c touch% /tmp/p'],
    ['ssh', 'ssh://-oProxyCommand=x/y'],
    ['an option', '--upload-pack=touch /tmp/p'],
  ])('from %s', async (_name, url) => {
    await expect(importRepository({ url }, options())).rejects.toMatchObject({ code: 'invalid' })
  })

  test('from a private address, at once or by a redirect', async () => {
    for (const url of [
      'http://10.0.0.1/x.git',
      'http://169.254.169.254/',
      `${address}/inside/x.git`,
    ]) {
      const how = options()
      await expect(importRepository({ url }, how)).rejects.toMatchObject({ reason: 'blocked' })
      expect(existsSync(how.scratch)).toBe(false)
    }
  })

  test('from a server that speaks no git, or only the old protocol', async () => {
    const missing = importRepository({ url: `${address}/missing.git` }, options())
    await expect(missing).rejects.toMatchObject({ code: 'not_found' })
    behaviour = { dumb: true }
    const dumb = importRepository({ url: `${address}/demo.git` }, options())
    await expect(dumb).rejects.toMatchObject({ code: 'not_found' })
  })

  test('from a server that is smart when we ask and not when git does', async () => {
    git(source.path, ['update-server-info'])
    behaviour = { dumbForGit: true }
    const url = `${address}/demo.git`
    await expect(importRepository({ url }, options())).rejects.toMatchObject({ code: 'invalid' })
    expect(seen.some((each) => each.url.startsWith('/demo.git/objects/'))).toBe(true)
  })

  test('of objects that a push could not bring', async () => {
    const blob = git(source.path, ['hash-object', '-w', '--stdin'], { input: 'x' })
    const entry = Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')])
    const hostile = git(
      source.path,
      ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'],
      { input: entry },
    )
    const id = git(source.path, ['commit-tree', hostile, '-m', 'hostile'])
    git(source.path, ['update-ref', 'refs/heads/hostile', id])
    try {
      const hostileImport = importRepository({ url: `${address}/demo.git` }, options())
      await expect(hostileImport).rejects.toMatchObject({ code: 'failed' })
    } finally {
      git(source.path, ['update-ref', '-d', 'refs/heads/hostile'])
    }
  })
})
