import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { syncFileSystem } from '../../../src/instance/backups/folder/backup-folder.ts'
import { sha256Of } from '../../../src/instance/backups/folder/manifest.ts'
import { gitstead } from '../../support/command-line.ts'
import { createProject } from '../../support/create.ts'
import { newFolder } from '../../support/database.ts'
import { type Caller, useWorld } from '../../support/world.ts'
import {
  type BackupPlace,
  disagreements,
  fsckAll,
  holds,
  openBackupPlace,
  refsIn,
  repositoriesIn,
  serveRestored,
  useQuickKeys,
  writeTrace,
} from './place.ts'

useQuickKeys()
const world = useWorld()
let ana: Caller
let place: BackupPlace
let project = 0
let upload = ''
let first = ''

const lastOf = (text: string): { name: string } & Record<string, unknown> => JSON.parse(text)

beforeAll(async () => {
  place = openBackupPlace()
  ana = await world.user('ana')
  project = (await createProject(ana, 'demo', { initialize_with_readme: true })).id
  const commit = (branch: string, text: string) =>
    ana.post(`/projects/${project}/repository/commits`, {
      branch,
      start_branch: 'main',
      commit_message: text,
      actions: [{ action: 'create', file_path: `${text}.txt`, content: text }],
    })
  expect((await commit('side', 'one')).status).toBe(201)
  expect(
    (await ana.post(`/projects/${project}/wikis`, { title: 'home', content: 'Hi' })).status,
  ).toBe(201)
  const snippet = { title: 's', file_name: 'a.rb', content: 'puts 1', visibility: 'private' }
  expect((await ana.post('/snippets', snippet)).status).toBe(201)
  expect((await ana.post(`/projects/${project}/fork`, { path: 'copy', name: 'copy' })).status).toBe(
    201,
  )
  const form = new FormData()
  form.set('file', new Blob(['uploaded text']), 'a.txt')
  const sent = await ana.post(`/projects/${project}/uploads`, undefined, { raw: form })
  upload = `/projects/${project}${sent.body.url}`
  const file = `/projects/${project}/packages/generic/tool/1.0/tool.bin`
  expect((await ana.put(file, undefined, { raw: 'package bytes' })).status).toBe(201)
  await world.runTasks()
  writeTrace(world.folder, 7, 'a log that grows')
  const created = await place.create(world.folder, ['--json'])
  expect(created.err + created.out).not.toContain('FAILURE')
  expect(created.code).toBe(0)
  first = lastOf(created.out).name
}, 120_000)
afterAll(async () => {
  place.remove()
})

test('a backup restored elsewhere has everything', async () => {
  const restored = await place.restore()
  expect(fsckAll(restored)).toEqual([])
  expect(disagreements(restored)).toEqual([])
  const before = repositoriesIn(world.folder)
  expect(before.length).toBe(4)
  for (const path of before) {
    const other = path.replace(world.folder, restored)
    expect(refsIn(other)).toEqual(refsIn(path))
    expect(readFileSync(join(other, 'HEAD'), 'utf8')).toBe(readFileSync(join(path, 'HEAD'), 'utf8'))
  }
  expect(readFileSync(join(restored, 'traces/7/7.log'), 'utf8')).toBe('a log that grows')
  expect(readFileSync(join(restored, 'secret.key'), 'utf8')).toBe(
    readFileSync(join(world.folder, 'secret.key'), 'utf8'),
  )
  const server = await serveRestored(restored, ana.token)
  try {
    const at = `/projects/${project}`
    const read = async (path: string) => (await server.as.get(path)).body
    expect(await read(`${at}/repository/files/one.txt/raw?ref=side`)).toBe('one')
    expect(await read(`${at}/packages/generic/tool/1.0/tool.bin`)).toBe('package bytes')
    expect(await read(upload)).toBe('uploaded text')
    expect(await read(`${at}/wikis/home`)).toMatchObject({ content: 'Hi' })
    const next = await server.as.post(`${at}/repository/branches?branch=new&ref=main`)
    expect(next.status).toBe(201)
  } finally {
    await server.close()
  }
}, 60_000)

test('secrets are in it for whoever has the passphrase alone', async () => {
  const key = readFileSync(join(world.folder, 'secret.key'), 'utf8').trim()
  expect(holds(place.backups, key)).toBe(false)
  const wrong = join(place.folder, 'wrong')
  writeFileSync(wrong, 'something else\n')
  const target = join(place.folder, 'none')
  const words = ['backup', 'restore', '--from', place.backups, '--passphrase-file', wrong]
  const refused = await gitstead(target, words)
  expect(refused).toMatchObject({
    code: 1,
    err: 'gitstead: the passphrase is not the one of this backup\n',
  })
  expect(existsSync(target)).toBe(false)
  const asked = await gitstead(world.folder, ['backup', 'create', '--to', place.backups])
  expect(asked).toMatchObject({ code: 2 })
  expect(asked.err).toContain('--passphrase-file')
})

test('an incremental backup writes nothing twice, and is whole without the ones before', async () => {
  const size = () => readdirSync(join(place.backups, 'store'), { recursive: true }).length
  const before = size()
  const same = lastOf((await place.create(world.folder, ['--incremental', '--json'])).out)
  // The database, which has a row more.
  expect(size() - before).toBeLessThanOrEqual(2)
  await ana.post(`/projects/${project}/repository/branches?branch=later&ref=side`)
  const later = lastOf((await place.create(world.folder, ['--incremental', '--json'])).out)
  expect(later).toMatchObject({ incremental: true, faults: [] })
  expect(Number(later.new_bytes)).toBeLessThan(Number(later.bytes))
  const removed = await place.create(world.folder, ['--incremental', '--keep', '1', '--json'])
  expect(lastOf(removed.out).removed).toEqual([first, same.name, later.name])
  expect((await place.verify()).code).toBe(0)
  const restored = await place.restore()
  expect(fsckAll(restored)).toEqual([])
  const [demo = ''] = repositoriesIn(restored).filter((path) => path.endsWith(`/${project}.git`))
  expect(refsIn(demo).has('refs/heads/later')).toBe(true)
}, 60_000)

test('a fork costs nothing, and shares its files again when it is restored', async () => {
  const restored = await place.restore()
  const files = repositoriesIn(restored).flatMap((path) =>
    readdirSync(join(path, 'objects'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /^[0-9a-f]{2}\/[0-9a-f]{38}$/.test(name))
      .map((name) => ({ name, inode: statSync(join(path, 'objects', name)).ino })),
  )
  const names = new Set(files.map(({ name }) => name))
  expect(names.size).toBeLessThan(files.length)
  expect(new Set(files.map(({ inode }) => inode)).size).toBe(names.size)
})

test('one file holds a backup, too', async () => {
  const file = join(place.folder, 'all.tar')
  const made = await gitstead(world.folder, ['backup', 'create', '--to', file, ...place.passphrase])
  expect(made.code).toBe(0)
  expect(readdirSync(place.folder).filter((name) => name.includes('.part'))).toEqual([])
  expect((await gitstead(world.folder, ['backup', 'verify', '--from', file])).code).toBe(0)
  const target = join(place.folder, 'from-file')
  const words = ['backup', 'restore', '--from', file, ...place.passphrase]
  expect((await gitstead(target, words)).code).toBe(0)
  expect(fsckAll(target)).toEqual([])
  expect(
    (await gitstead(world.folder, ['backup', 'create', '--to', file, ...place.passphrase])).err,
  ).toContain('is there already')
  truncateSync(file, 100_000)
  const cut = await gitstead(world.folder, ['backup', 'verify', '--from', file])
  expect(cut.code).toBe(1)
  expect(cut.err).toContain('is no whole backup')
}, 60_000)

test('a folder that holds something is not restored into', async () => {
  const words = ['backup', 'restore', '--from', place.backups, ...place.passphrase]
  const ran = await gitstead(world.folder, words)
  expect(ran).toMatchObject({
    code: 1,
    err: `gitstead: ${world.folder} is not empty: name an empty folder with --data\n`,
  })
})

test('a folder in which no server has begun is as good as empty, and is closed to others', async () => {
  const data = join(place.folder, 'checked-out')
  mkdirSync(data, { mode: 0o755 })
  writeFileSync(join(data, '.gitignore'), '*')
  expect((await gitstead(data, ['doctor'])).code).toBe(0)
  const words = ['backup', 'restore', '--from', place.backups, ...place.passphrase]
  expect((await gitstead(data, words)).code).toBe(0)
  expect(statSync(data).mode & 0o777).toBe(0o700)
})

test('a backup without a server keeps one from starting meanwhile', async () => {
  const data = await place.restore()
  const made = await place.create(data)
  expect(made.code).toBe(0)
  expect(existsSync(join(data, 'server.pid'))).toBe(false)
})

describe('what is wrong with a backup', () => {
  /** Changes the newest backup, has it looked at, and puts it back. */
  async function damaged(change: (path: string, store: string) => () => void) {
    const name = readdirSync(join(place.backups, 'backups')).sort().at(-1) ?? ''
    const undo = change(join(place.backups, 'backups', name), join(place.backups, 'store'))
    const target = join(place.folder, 'refused')
    try {
      const verified = await place.verify()
      const words = ['backup', 'restore', '--from', place.backups, ...place.passphrase]
      const restored = await gitstead(target, words)
      const left = existsSync(target) ? readdirSync(target) : []
      return { verified, restored, left }
    } finally {
      undo()
      rmSync(target, { recursive: true, force: true })
    }
  }

  const changed = (path: string, change: (bytes: Buffer) => Buffer | undefined) => {
    const bytes = readFileSync(path)
    const other = change(Buffer.from(bytes))
    if (other) writeFileSync(path, other)
    else rmSync(path)
    return () => writeFileSync(path, bytes)
  }
  const listed = (folder: string, path: RegExp) => {
    const lines = readFileSync(join(folder, 'files.tsv'), 'utf8').split('\n')
    return lines.find((line) => path.test(line))?.split('\t')[0] ?? ''
  }
  const flip = (bytes: Buffer) => {
    const at = bytes.length >> 1
    bytes[at] = (bytes[at] ?? 0) ^ 1
    return bytes
  }
  const stored =
    (path: RegExp, change: (bytes: Buffer) => Buffer | undefined) =>
    (folder: string, store: string) => {
      const sha = listed(folder, path)
      return changed(join(store, sha.slice(0, 2), sha), change)
    }

  test.each([
    ['one bit of the database', stored(/gitstead\.db$/, flip)],
    ['one bit of an object', stored(/objects\/[0-9a-f]{2}\//, flip)],
    ['one bit of a stored file', stored(/\tfiles\//, flip)],
    ['the end of a stored file', stored(/\tfiles\//, (bytes) => bytes.subarray(1))],
    ['a stored file', stored(/\tfiles\//, () => undefined)],
    ['the refs of a repository', stored(/packed-refs$/, () => undefined)],
    ['a byte of the list', (folder: string) => changed(join(folder, 'files.tsv'), flip)],
    ['the list', (folder: string) => changed(join(folder, 'files.tsv'), () => undefined)],
    ['a byte of the manifest', (folder: string) => changed(join(folder, 'manifest.json'), flip)],
    ['the manifest', (folder: string) => changed(join(folder, 'manifest.json'), () => undefined)],
  ])('%s: it is refused, and nothing is left of it', async (_what, change) => {
    const { verified, restored, left } = await damaged(change)
    expect(verified.code).toBe(1)
    expect(verified.out + verified.err).toMatch(/damaged/)
    expect(restored.code).toBe(1)
    expect(restored.err).toMatch(/is damaged: [^\n]*\n$/)
    expect(left).toEqual([])
  })

  test('one of a newer program is refused in a line that names both versions', async () => {
    const rewrite = (more: object) => (folder: string) =>
      changed(join(folder, 'manifest.json'), (bytes) => {
        const manifest = { ...JSON.parse(bytes.toString()).manifest, ...more }
        return Buffer.from(JSON.stringify({ manifest, sha256: sha256Of(JSON.stringify(manifest)) }))
      })
    for (const more of [{ version: '99.1.0' }, { migrations: ['0340-baseline', '9999-future'] }]) {
      const { restored, left } = await damaged(rewrite(more))
      expect(restored.code).toBe(1)
      expect(restored.err).toMatch(
        /^gitstead: the backup \S+ was made by Gitstead \S+ \(\S+\); this is Gitstead \S+ \(\S+\): [^\n]+\n$/,
      )
      expect(left).toEqual([])
    }
  })

  test('a restore that was cut off keeps a server from beginning anew in the folder', async () => {
    const data = await place.restore()
    writeFileSync(join(data, 'restore-unfinished'), '')
    await expect(serveRestored(data, null)).rejects.toThrow('was not restored to its end')
  })
})

test('a backup needs no program but git to be brought onto the disk', async () => {
  const folder = newFolder()
  mkdirSync(join(folder, 'a/b'), { recursive: true })
  writeFileSync(join(folder, 'a/b/c'), 'x')
  vi.stubEnv('PATH', folder)
  try {
    await syncFileSystem(folder)
  } finally {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  }
})

test('what is damaged where it is copied from is named, and the rest is backed up', async () => {
  const data = await place.restore()
  const [path = ''] = readdirSync(join(data, 'files'), {
    recursive: true,
    encoding: 'utf8',
  }).filter((name) => /[0-9a-f]{64}$/.test(name))
  rmSync(join(data, 'files', path))
  writeFileSync(join(data, 'files', path), 'other bytes')
  const [demo = ''] = repositoriesIn(data).filter((one) => one.endsWith(`/${project}.git`))
  const tip = refsIn(demo).get('refs/heads/side') ?? ''
  rmSync(join(demo, 'objects', tip.slice(0, 2), tip.slice(2)))
  const made = await place.create(data)
  expect(made.code).toBe(1)
  expect(made.out).toContain(`FAILURE files/${path}: the content is not what its name says`)
  expect(made.out).toContain(`/${project}.git: `)
  const database = new Database(join(data, 'gitstead.db'), { readonly: true })
  const row = database.prepare('SELECT state FROM backups ORDER BY id DESC LIMIT 1').get()
  database.close()
  expect(row).toEqual({ state: 'faulty' })
  expect((await place.verify()).code).toBe(1)
  rmSync(data, { recursive: true })
  const words = ['backup', 'restore', '--from', place.backups, ...place.passphrase]
  expect((await gitstead(join(place.folder, 'as-it-was'), words)).out).toContain(
    'damaged before the backup',
  )
})
