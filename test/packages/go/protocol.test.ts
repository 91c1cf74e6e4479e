import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { TreeEntry } from '../../../src/git/types.ts'
import { filesOf } from '../../../src/packages/go/zip.ts'
import { addMember } from '../../support/members.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { filesOfZip } from '../zip-file.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let host: string

beforeAll(async () => {
  host = new URL(world.ctx.config.externalUrl).hostname
  // The engine starts with its first commit.
  await commit(await newModule('first'), { 'README.md': 'x' })
})

interface Module {
  readonly id: number
  /** As go.mod says it. */
  readonly name: string
  readonly at: string
}

async function newModule(path: string, more: object = {}): Promise<Module> {
  const made = await ana.post('/projects', { name: path, path, visibility: 'private', ...more })
  expect(made.status).toBe(201)
  const { id, path_with_namespace } = made.body
  const name = `${host}/${path_with_namespace}`
  const encoded = name.replaceAll(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`)
  return { id, name, at: `/projects/${id}/packages/go/${encoded}` }
}

async function commit(
  { id }: Module,
  files: Readonly<Record<string, string | null>>,
  action = 'create',
) {
  const actions = Object.entries(files).map(([file_path, content]) =>
    content === null ? { action: 'delete', file_path } : { action, file_path, content },
  )
  const body = { branch: 'main', commit_message: 'a commit', actions }
  const answer = await ana.post(`/projects/${id}/repository/commits`, body)
  expect(answer.status).toBe(201)
  heads.set(id, answer.body.id)
  return answer.body as { readonly id: string; readonly committed_date: string }
}

const heads = new Map<number, string>()

/** Puts a tag at the last commit, as a push would. */
function tag({ id }: Module, name: string): void {
  const file = join(world.ctx.git.open(id).path, 'refs', 'tags', name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${heads.get(id)}\n`)
}

const list = async ({ at }: Module, sub = '') => {
  const { status, body } = await ana.get(`${at}${sub}/@v/list`)
  return [status, String(body).split('\n').filter(Boolean).sort()]
}

async function zip({ at }: Module, version: string, sub = '') {
  const answer = await fetch(`${world.url}/api/v4${at}${sub}/@v/${version}.zip`, {
    headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
  })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip'])
  return await filesOfZip(Buffer.from(await answer.arrayBuffer()))
}

/** As pseudo-versions and `.info` write the time of a commit. */
const secondsOf = (date: string) => new Date(date).toISOString().replace(/\.\d+Z/, 'Z')
const stampOf = (date: string) => secondsOf(date).replaceAll(/[-:TZ]/g, '')

describe('the versions of a module', () => {
  test('are tags of its major version whose go.mod says its name', async () => {
    const module = await newModule('versions')
    await commit(module, { 'go.mod': `module ${module.name}\n` })
    for (const name of [
      'v0.1.0',
      'v1.0.0',
      'v1.1.0-rc.1',
      'v1.2',
      '1.3.0',
      'v2.0.0',
      'v1.0.0+meta',
      'vX',
      'v01.0.0',
      'x/v1.4.0',
    ]) {
      tag(module, name)
    }
    expect(await list(module)).toEqual([200, ['v0.1.0', 'v1.0.0', 'v1.1.0-rc.1']])
    await commit(module, { 'go.mod': `module ${module.name}/v2\n` }, 'update')
    tag(module, 'v2.1.0')
    tag(module, 'v1.5.0')
    expect(await list(module)).toEqual([200, ['v0.1.0', 'v1.0.0', 'v1.1.0-rc.1']])
    expect(await list(module, '/v2')).toEqual([200, ['v2.1.0']])
    expect((await list(module, '/v3'))[1]).toEqual([])
  })

  test('are found in two calls for all tags, and what a go.mod says is remembered', async () => {
    const module = await newModule('many')
    for (let major = 0; major < 3; major += 1) {
      const text = `module ${module.name}\n// ${major}\n`
      await commit(module, { 'go.mod': text }, major === 0 ? 'create' : 'update')
      for (let n = 0; n < 100; n += 1) tag(module, `v1.${major}.${n}`)
    }
    const { engine } = world.ctx.git.open(module.id)
    const of = vi.spyOn(engine, 'of').mockReturnValue(engine) // that of each caller asks another pool of the same programs
    const run = vi.spyOn(engine, 'run')
    const called = async () => {
      run.mockClear()
      expect((await list(module))[1]).toHaveLength(300)
      return run.mock.calls.map(([operation]) => operation.name)
    }
    expect(await called()).toEqual(['listRefs', 'findFiles', 'readBlobs'])
    expect(await called()).toEqual(['listRefs', 'findFiles'])
    run.mockRestore()
    of.mockRestore()
  })

  test('are those whose go.mod is no larger than a megabyte', async () => {
    const module = await newModule('large-mod')
    const texts = ['', '// much\n'.repeat(150_000)]
    for (const [n, text] of texts.entries()) {
      const content = `module ${module.name}\n${text}`
      await commit(module, { 'go.mod': content }, n === 0 ? 'create' : 'update')
      tag(module, `v1.${n}.0`)
    }
    expect(await list(module)).toEqual([200, ['v1.0.0']])
  })

  test('are read from the first line of go.mod that says something', async () => {
    const module = await newModule('lines')
    const texts: Readonly<Record<string, string>> = {
      'v1.0.0': `// A comment\n\nmodule ${module.name} // the tool\n\ngo 1.20\n`,
      'v1.1.0': `module "${module.name}"\n`,
      'v1.2.0': `module   ${module.name}\r\n`,
      'v1.3.0': `go 1.20\nmodule ${module.name}\n`,
      'v1.4.0': `module ${module.name}x\n`,
      'v1.5.0': 'module\n',
      'v1.6.0': '',
    }
    let action = 'create'
    for (const [version, text] of Object.entries(texts)) {
      await commit(module, { 'go.mod': text }, action)
      tag(module, version)
      action = 'update'
    }
    expect(await list(module)).toEqual([200, ['v1.0.0', 'v1.1.0', 'v1.2.0']])
  })

  test('are found among thousands of tags that are none', async () => {
    const module = await newModule('crowded')
    const { id } = await commit(module, {
      'go.mod': `module ${module.name}\n`,
      'sub/go.mod': `module ${module.name}/sub\n`,
    })
    tag(module, 'v1.0.0')
    tag(module, 'sub/v1.1.0')
    const names = Array.from(
      { length: 5100 },
      (_, at) => `refs/tags/build-${String(at).padStart(4, '0')}`,
    )
    const lines = names.map((name) => `${id} ${name}\n`).join('')
    const { path } = world.ctx.git.open(module.id)
    writeFileSync(
      join(path, 'packed-refs'),
      `# pack-refs with: peeled fully-peeled sorted \n${lines}`,
    )
    expect(await list(module)).toEqual([200, ['v1.0.0']])
    expect(await list(module, '/sub')).toEqual([200, ['v1.0.0', 'v1.1.0']])
    expect((await ana.get(`${module.at}/@latest`)).body.Version).toBe('v1.0.0')
    expect((await list(module, '/a..b'))[1]).toEqual([])
  })

  test('are none of a module without tags, and of one without go.mod', async () => {
    const module = await newModule('bare')
    expect(await list(module)).toEqual([200, []])
    await commit(module, { 'README.md': 'x' })
    tag(module, 'v1.0.0')
    expect(await list(module)).toEqual([200, []])
    expect((await ana.get(`${module.at}/@v/v1.0.0.info`)).status).toBe(404)
    const answer = await ana.get(`${module.at}/@v/list`)
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  })
})

describe('one version', () => {
  let module: Module
  let first: { readonly id: string; readonly committed_date: string }
  const mod = () => `module ${module.name}\n\ngo 1.20\n`

  beforeAll(async () => {
    module = await newModule('Tool')
    first = await commit(module, {
      'go.mod': mod(),
      'tool.go': 'package tool\n',
      'sub/part.go': 'package sub\n',
      'nested/go.mod': `module ${module.name}/nested\n`,
      'nested/n.go': 'package nested\n',
      'nested/deep/d.go': 'package deep\n',
      'nestedbeside/b.go': 'package beside\n',
      'ünïcode.txt': 'ü',
    })
    tag(module, 'v1.0.0')
  })

  test('is described by its name and time, and by its go.mod', async () => {
    const info = await ana.get(`${module.at}/@v/v1.0.0.info`)
    expect([info.status, info.body]).toEqual([
      200,
      { Version: 'v1.0.0', Time: secondsOf(first.committed_date) },
    ])
    expect(info.headers.get('content-type')).toContain('application/json')
    const text = await ana.get(`${module.at}/@v/v1.0.0.mod`)
    expect([text.status, text.body]).toEqual([200, mod()])
    expect(text.headers.get('content-type')).toContain('text/plain')
    const head = await ana.head(`${module.at}/@v/v1.0.0.mod`)
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(mod().length)])
    const etag = { headers: { 'If-None-Match': text.headers.get('etag') ?? '' } }
    expect((await ana.get(`${module.at}/@v/v1.0.0.mod`, etag)).status).toBe(304)
  })

  test('is packed under its name and version, without the modules in it', async () => {
    const root = `${module.name}@v1.0.0`
    expect(await zip(module, 'v1.0.0')).toEqual({
      [`${root}/go.mod`]: mod(),
      [`${root}/tool.go`]: 'package tool\n',
      [`${root}/sub/part.go`]: 'package sub\n',
      [`${root}/nestedbeside/b.go`]: 'package beside\n',
      [`${root}/ünïcode.txt`]: 'ü',
    })
  })

  test('is found in no time among very many modules that are nested in it', () => {
    const entryOf = (path: string) => ({ path, name: 'x', id: 'x', type: 'blob', mode: '100644' })
    const nested = Array.from({ length: 60_000 }, (_, number) => `deep/folder${number}/go.mod`)
    const paths = ['go.mod', 'deep/own.go', ...nested]
    const begun = performance.now()
    const files = filesOf(paths.map(entryOf) as TreeEntry[], '', true)
    expect(files.map((file) => file.name)).toEqual(['go.mod', 'deep/own.go'])
    expect(performance.now() - begun).toBeLessThan(4000)
  })

  test('of a module in a folder is packed without the folder', async () => {
    expect(await list(module, '/nested')).toEqual([200, ['v1.0.0']])
    const root = `${module.name}/nested@v1.0.0`
    expect(await zip(module, 'v1.0.0', '/nested')).toEqual({
      [`${root}/go.mod`]: `module ${module.name}/nested\n`,
      [`${root}/n.go`]: 'package nested\n',
      [`${root}/deep/d.go`]: 'package deep\n',
    })
    expect((await ana.get(`${module.at}/nested/@v/v1.0.0.mod`)).body).toBe(
      `module ${module.name}/nested\n`,
    )
  })

  test('is packed like the go command packs it: its sum is of these files', async () => {
    const packed = await newModule('packed')
    const files = {
      LICENSE: 'of the root',
      'part/p.go': 'package part\n',
      'part/go.mod': `module ${packed.name}/part\n`,
      'own/go.mod': `module ${packed.name}/own\n`,
      'own/LICENSE': 'its own',
      'lib/vendor/v.go': 'package vendor\n',
      'lib/vendor/x/x.go': 'package x\n',
      'vendor/modules.txt': '# list\n',
      'vendor/y/y.go': 'package y\n',
      'upper/GO.MOD': 'module x\n',
      '.hg_archival.txt': 'x',
    }
    const names = async (version: string, sub = '') =>
      Object.keys(await zip(packed, version, sub))
        .map((name) => name.slice(`${packed.name}${sub}@${version}/`.length))
        .sort()
    await commit(packed, { ...files, 'go.mod': `module ${packed.name}\n\ngo 1.23.4\n` })
    tag(packed, 'v1.0.0')
    await commit(packed, { 'go.mod': `module ${packed.name}\n\ngo 1.24\n` }, 'update')
    tag(packed, 'v1.1.0')
    expect(await names('v1.0.0')).toEqual(['LICENSE', 'go.mod', 'vendor/modules.txt'])
    expect(await names('v1.1.0')).toEqual(['LICENSE', 'go.mod', 'lib/vendor/v.go'])
    expect(await names('v1.0.0', '/part')).toEqual(['LICENSE', 'go.mod', 'p.go'])
    const own = await zip(packed, 'v1.0.0', '/own')
    expect(own[`${packed.name}/own@v1.0.0/LICENSE`]).toBe('its own')
    const part = await zip(packed, 'v1.0.0', '/part')
    expect(part[`${packed.name}/part@v1.0.0/LICENSE`]).toBe('of the root')
  })

  test('of a module in a folder is that of its own tag where there is one', async () => {
    tag(module, 'nested/v1.1.0')
    expect(await list(module, '/nested')).toEqual([200, ['v1.0.0', 'v1.1.0']])
    expect(await list(module)).toEqual([200, ['v1.0.0']])
    expect((await ana.get(`${module.at}/nested/@v/v1.1.0.info`)).body.Version).toBe('v1.1.0')
    expect((await ana.get(`${module.at}/@v/v1.1.0.info`)).status).toBe(404)
  })

  test('that is a commit has its time and twelve letters of it, both right', async () => {
    const stamp = stampOf(first.committed_date)
    const short = first.id.slice(0, 12)
    for (const version of [
      `v0.0.0-${stamp}-${short}`,
      `v1.0.1-0.${stamp}-${short}`,
      `v1.1.0-rc.1.0.${stamp}-${short}`,
    ]) {
      const info = await ana.get(`${module.at}/@v/${version}.info`)
      expect([version, info.status, info.body.Version]).toEqual([version, 200, version])
    }
    const root = `${module.name}@v0.0.0-${stamp}-${short}`
    expect(Object.keys(await zip(module, `v0.0.0-${stamp}-${short}`))).toContain(`${root}/go.mod`)
    const later = String(Number(stamp) + 1)
    for (const version of [
      `v0.0.0-${later}-${short}`,
      `v0.0.0-${stamp}-${first.id.slice(0, 11)}`,
      `v0.0.0-${stamp}-${first.id.slice(0, 13)}`,
      `v0.0.0-${stamp}-${'0'.repeat(12)}`,
      `v2.0.1-0.${stamp}-${short}`,
      `v0.0.0-${stamp}-${short.toUpperCase()}`,
    ]) {
      expect([version, (await ana.get(`${module.at}/@v/${version}.info`)).status]).toEqual([
        version,
        404,
      ])
    }
  })

  test('may be asked for by a branch or a commit, which get the one that it is', async () => {
    const expected = 'v1.0.0'
    for (const name of ['main', first.id, first.id.slice(0, 12)]) {
      expect([name, (await ana.get(`${module.at}/@v/${name}.info`)).body.Version]).toEqual([
        name,
        expected,
      ])
    }
  })

  test('of a branch or commit is its tag, else above the highest in its history and below the next', async () => {
    const after = await newModule('after')
    const of = async (name: string, sub = '') =>
      (await ana.get(`${after.at}${sub}/@v/${name}.info`)).body.Version
    const next = async (files: Readonly<Record<string, string>>) => {
      const made = await commit(after, files)
      return { id: made.id, end: `${stampOf(made.committed_date)}-${made.id.slice(0, 12)}` }
    }
    const one = await next({
      'go.mod': `module ${after.name}\n`,
      'nested/go.mod': `module ${after.name}/nested\n`,
    })
    expect(await of('main')).toBe(`v0.0.0-${one.end}`)
    tag(after, 'v1.0.0-rc.1')
    expect(await of('main')).toBe('v1.0.0-rc.1')
    const two = await next({ 'two.go': 'package a\n' })
    expect(await of('main')).toBe(`v1.0.0-rc.1.0.${two.end}`)
    tag(after, 'v1.1.0')
    tag(after, 'v1.1.0-rc.9')
    tag(after, 'v1.0.9')
    tag(after, 'nested/v0.3.0')
    expect(await of('main')).toBe('v1.1.0')
    const three = await next({ 'three.go': 'package a\n' })
    expect(await of('main')).toBe(`v1.1.1-0.${three.end}`)
    expect(await of(three.id)).toBe(`v1.1.1-0.${three.end}`)
    expect(await of(`v1.1.1-0.${three.end}`)).toBe(`v1.1.1-0.${three.end}`)
    // What comes later, or stands elsewhere, is not in its history.
    const four = await next({ 'four.go': 'package a\n' })
    tag(after, 'v1.9.0')
    expect(await of(three.id)).toBe(`v1.1.1-0.${three.end}`)
    expect(await of(one.id)).toBe('v1.0.0-rc.1')
    expect(await of(four.id.slice(0, 12))).toBe('v1.9.0')
    await ana.post(`/projects/${after.id}/repository/branches?branch=vnext&ref=${three.id}`)
    expect(await of('vnext')).toBe(`v1.1.1-0.${three.end}`)
    const second = await commit(after, { 'go.mod': `module ${after.name}/v2\n` }, 'update')
    const end = `${stampOf(second.committed_date)}-${second.id.slice(0, 12)}`
    expect(await of('main', '/v2')).toBe(`v2.0.0-${end}`)
  })

  test.each([
    'v1.0.0',
    'v1.0.0.',
    'v1.0.0.txt',
    'v1.0.0.INFO',
    '.info',
    'HEAD~0.info',
    'main%5E.info',
    '%3A%2Ftool.info',
    'v1.0.0%00.info',
    '..%2f..%2fconfig.info',
    'V1.0.0.info',
  ])('is none by the name %s', async (file) => {
    expect((await ana.get(`${module.at}/@v/${file}`)).status).toBe(404)
  })

  test('is found under the name of its project alone, capitals encoded', async () => {
    const at = `/projects/${module.id}/packages/go`
    for (const name of [
      module.name,
      `${host}/ana/tool`,
      `${host}:80/ana/!tool`,
      `other.example.com/ana/!tool`,
      `${host}/ana`,
      `${host}/ana/!toolx`,
      `${host}/ana/!!tool`,
      `${host}/ana/!Tool`,
      '!',
    ]) {
      const path = `${at}/${encodeURI(name)}/@v/list`
      expect([name, (await ana.get(path)).status]).toEqual([name, 404])
    }
    expect((await ana.get(`${at}/${host}/ana/!tool/@v/list`)).status).toBe(200)
  })
})

describe('the latest version', () => {
  const latest = async ({ at }: Module, sub = '') =>
    (await ana.get(`${at}${sub}/@latest`)).body.Version

  test('is the highest release, else the highest before one, else the default branch', async () => {
    const module = await newModule('latest')
    expect((await ana.get(`${module.at}/@latest`)).status).toBe(404)
    const first = await commit(module, { 'go.mod': `module ${module.name}\n` })
    expect(await latest(module)).toBe(
      `v0.0.0-${stampOf(first.committed_date)}-${first.id.slice(0, 12)}`,
    )
    tag(module, 'v0.2.0-beta')
    tag(module, 'v0.2.0-alpha')
    expect(await latest(module)).toBe('v0.2.0-beta')
    tag(module, 'v0.1.0')
    tag(module, 'v0.10.0')
    tag(module, 'v0.9.0')
    expect(await latest(module)).toBe('v0.10.0')
  })

  test('of a major version that no commit is of is not there', async () => {
    const module = await newModule('major')
    await commit(module, { 'go.mod': `module ${module.name}\n` })
    tag(module, 'v1.0.0')
    expect((await ana.get(`${module.at}/v2/@latest`)).status).toBe(404)
    const second = await commit(module, { 'go.mod': `module ${module.name}/v2\n` }, 'update')
    expect(await latest(module, '/v2')).toBe(
      `v2.0.0-${stampOf(second.committed_date)}-${second.id.slice(0, 12)}`,
    )
  })
})

describe('permissions', () => {
  test('are those of the code: a Guest of a private project gets no module', async () => {
    const module = await newModule('private')
    await commit(module, { 'go.mod': `module ${module.name}\n` })
    tag(module, 'v1.0.0')
    for (const [level, status] of [
      [0, 404],
      [10, 403],
      [20, 200],
      [30, 200],
    ] as const) {
      const who = await world.user(`go${level}`)
      if (level > 0) await addMember(world, module.id, who.id, level)
      for (const path of [
        '@v/list',
        '@v/v1.0.0.info',
        '@v/v1.0.0.mod',
        '@v/v1.0.0.zip',
        '@latest',
      ]) {
        expect([level, path, (await who.get(`${module.at}/${path}`)).status]).toEqual([
          level,
          path,
          status,
        ])
      }
    }
    for (const path of ['@v/list', '@v/v9.0.0.info', '@latest']) {
      const nobody = await world.nobody.get(`${module.at}/${path}`)
      expect([nobody.status, nobody.headers.get('www-authenticate')]).toEqual([
        401,
        'Basic realm="svc Packages Registry"',
      ])
    }
    const deploy = async (scope: string) => {
      const made = await ana.post(`/projects/${module.id}/deploy_tokens`, {
        name: 'd',
        scopes: [scope],
      })
      const pair = Buffer.from(`${made.body.username}:${made.body.token}`).toString('base64')
      return (
        await world.nobody.get(`${module.at}/@v/list`, {
          headers: { Authorization: `Basic ${pair}` },
        })
      ).status
    }
    expect(await deploy('read_package_registry')).toBe(200)
    expect(await deploy('read_registry')).toBe(401)
  })

  test('give everybody the modules of a public project, and answer 404 for an unknown one', async () => {
    const module = await newModule('public', { visibility: 'public' })
    await commit(module, { 'go.mod': `module ${module.name}\n` })
    tag(module, 'v1.0.0')
    expect((await world.nobody.get(`${module.at}/@v/list`)).body).toBe('v1.0.0\n')
    const other = await world.user('gouser')
    expect((await other.get(`${module.at}/@v/v2.0.0.info`)).status).toBe(404)
    await ana.put(`/projects/${module.id}`, { package_registry_access_level: 'disabled' })
    expect((await ana.get(`${module.at}/@v/list`)).status).toBe(403)
  })
})
