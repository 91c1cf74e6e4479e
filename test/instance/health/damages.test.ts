import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getVisibleProject } from '../../../src/access/subjects.ts'
import { storedColumns } from '../../../src/instance/health/queries.ts'
import { storeLfsObject } from '../../../src/repositories/lfs/objects.ts'
import { addCiPlace, type CiPlace, startJob } from '../../support/ci.ts'
import { gitstead } from '../../support/command-line.ts'
import { git as gitIn } from '../../support/git.ts'
import { runProgram } from '../../support/run-program.ts'
import { type Caller, openWorld } from '../../support/world.ts'
import { disagreements, fsckAll, openBackupPlace, refsIn, serveRestored } from '../backups/place.ts'

/** A data folder with one of everything, from which each damage starts. */
let base = ''
let root = ''
let token = ''
let settings: Record<string, string> = {}
let place: CiPlace
let project = 0
let fork = 0
let jobPath = ''
/** A job that was running when the server ended. */
let running = 0
let uploadPath = ''
const stored = { upload: '', package: '', lfs: '', log: '' }
const backups = openBackupPlace()

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const git = (repository: string, ...args: string[]) => gitIn(repository, args)
const repositoryIn = (data: string, id: number) =>
  join(data, 'repositories', (id & 0xff).toString(16).padStart(2, '0'), `${id}.git`)
const logIn = (data: string) => join(data, 'traces', String(running % 256), `${running}.log`)
const fileIn = (data: string, name: string) =>
  join(data, 'files', name.slice(0, 2), name.slice(2, 4), name)

/** A new file in its place: forks share the files of their objects, which a test is not to damage with one. */
function rewrite(path: string, change: (draft: string) => void): void {
  const bytes = readFileSync(path)
  unlinkSync(path)
  writeFileSync(path, bytes)
  change(path)
}

async function commit(ana: Caller, id: number, branch: string, path: string) {
  const body = { branch, content: `content of ${path}`, commit_message: `Add ${path}` }
  const made = await ana.post(`/projects/${id}/repository/files/${encodeURIComponent(path)}`, body)
  expect(made.status).toBe(201)
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gitstead-damages-'))
  base = join(root, 'base')
  const world = await openWorld({ data: base })
  const ana = await world.user('ana')
  token = ana.token ?? ''
  place = await addCiPlace(world, ana, 'x: {script: make}')
  project = place.project.id
  for (const branch of ['side', 'deep/one']) {
    const path = `/projects/${project}/repository/branches?ref=main&branch=${encodeURIComponent(branch)}`
    expect((await ana.post(path)).status).toBe(201)
    await commit(ana, project, branch, `${branch.replace('/', '-')}.txt`)
  }
  await commit(ana, project, 'main', 'main.txt')
  const copy = await ana.post(`/projects/${project}/fork`, { path: 'copy', name: 'copy' })
  fork = copy.body.id
  await world.runTasks()
  const form = new FormData()
  form.set('file', new Blob(['uploaded text']), 'a.txt')
  uploadPath = `/projects/${project}${(await ana.post(`/projects/${project}/uploads`, undefined, { raw: form })).body.url}`
  stored.upload = sha256('uploaded text')
  const file = `/projects/${project}/packages/generic/tool/1.0/tool.bin`
  expect((await ana.put(file, undefined, { raw: 'package bytes' })).status).toBe(201)
  stored.package = sha256('package bytes')
  stored.lfs = sha256('a large file')
  const found = await getVisibleProject(world.ctx, String(project))
  const bytes = Readable.from([Buffer.from('a large file')])
  await storeLfsObject(world.ctx, found, { oid: stored.lfs, size: 12 }, bytes)
  const { job, at } = await startJob(place)
  jobPath = at
  await place.runner.finish(job, 'success', 'all is well\n')
  await world.runTasks()
  const row = world.ctx.db.selectFrom('ci_traces').select('sha256')
  stored.log = (await row.executeTakeFirstOrThrow()).sha256 ?? ''
  const { job: second } = await startJob(place)
  running = second.id
  expect((await place.runner.append(second, 0, 'half of what it does\n')).status).toBe(202)
  expect((await backups.create(base)).code).toBe(0)
  await world.app.close()
  settings = {
    GITSTEAD_BACKUP_FOLDER: backups.backups,
    GITSTEAD_BACKUP_PASSPHRASE_FILE: backups.passphrase[1] ?? '',
  }
}, 120_000)
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
  backups.remove()
})

let count = 0
function copyOfBase(): string {
  count += 1
  const data = join(root, `copy-${count}`)
  runProgram({
    program: 'cp',
    args: ['-a', base, data],
    cwd: root,
    env: { PATH: process.env.PATH ?? '' },
  })
  return data
}

test('every column that names a stored file is looked at', () => {
  const folder = new URL('../../../src/store/schema/', import.meta.url)
  const columns = readdirSync(folder).flatMap((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8')
    const tables = text.matchAll(/^ {2}(\w+): \{\n([\s\S]*?)^ {2}\}/gm)
    return [...tables].flatMap(([, table, body = '']) =>
      [...body.matchAll(/^ {4}(\w+): .*\bstring\b/gm)].map(([, column]) => `${table}.${column}`),
    )
  })
  const named = columns.filter((name) => /(?:[._]file|\.oid|[._]sha256)$/.test(name))
  // Of a manifest that need not be here; what a manifest names; the fingerprint of a key.
  const others = [
    'container_manifests.subject_sha256',
    'container_references.sha256',
    'ssh_keys.fingerprint_sha256',
  ]
  expect(named.filter((name) => !others.includes(name)).sort()).toEqual(
    Object.keys(storedColumns).sort(),
  )
})

const doctor = (data: string, words: readonly string[] = [], env = settings) =>
  gitstead(data, ['doctor', ...words], '', env)

/** Without what is said of a machine that is full or slow. */
const faultsOf = (out: string) => out.split('\n').filter((line) => line.startsWith('FAILURE'))

test('a folder in which nothing is damaged has no failure', async () => {
  const { code, out } = await doctor(copyOfBase())
  expect(faultsOf(out)).toEqual([])
  expect(code).toBe(0)
})

interface Damage {
  readonly name: string
  /** Those of one number are made in one folder, since none has to do with another. */
  readonly together?: number
  readonly make: (data: string) => void
  /** What plain `doctor` says. */
  readonly reported: RegExp | ((data: string) => RegExp)
  /** What `--mend` says of it; left out where nothing here knows better. */
  readonly mended?: RegExp
}

const loose = (repository: string, id: string) =>
  join(repository, 'objects', id.slice(0, 2), id.slice(2))
/** Every object as a file of its own. */
function unpackAll(repository: string): void {
  const folder = join(repository, 'objects/pack')
  const packs = readdirSync(folder).filter((name) => name.endsWith('.pack'))
  for (const name of packs) {
    const bytes = readFileSync(join(folder, name))
    for (const other of readdirSync(folder)) {
      if (other.startsWith(name.replace('.pack', ''))) rmSync(join(folder, other), { force: true })
    }
    gitIn(repository, ['unpack-objects', '-q'], { input: bytes })
  }
  rmSync(join(folder, 'multi-pack-index'), { force: true })
}

const damages: readonly Damage[] = [
  {
    name: 'a blob deleted',
    make: (data) => {
      const repository = repositoryIn(data, project)
      unpackAll(repository)
      rmSync(loose(repository, git(repository, 'rev-parse', 'main:.svc-ci.yml')))
    },
    reported:
      /FAILURE repository .*: the blob [0-9a-f]{40} is lost, which is refs\/.*:\.svc-ci\.yml/,
    mended: /nothing of what its refs lead to is missing now/,
  },
  {
    name: 'the tip commit deleted',
    make: (data) => {
      const repository = repositoryIn(data, project)
      unpackAll(repository)
      rmSync(loose(repository, git(repository, 'rev-parse', 'side')))
    },
    reported: /FAILURE repository .*: refs\/heads\/side leads to [0-9a-f]{40}, which is lost/,
    mended: /nothing of what its refs lead to is missing now/,
  },
  {
    name: 'a pack cut by 300 bytes',
    make: (data) => {
      const repository = repositoryIn(data, project)
      git(repository, 'repack', '-a', '-d', '-q')
      const folder = join(repository, 'objects/pack')
      const pack = readdirSync(folder).find((name) => name.endsWith('.pack')) ?? ''
      chmodSync(join(folder, pack), 0o644)
      rewrite(join(folder, pack), (path) => truncateSync(path, statSync(path).size - 300))
    },
    reported:
      /FAILURE repository .*: the pack pack-[0-9a-f]+\.pack is cut, or not the one of its index/,
    mended: /set aside pack-[0-9a-f]+ in damaged-objects/,
  },
  {
    name: 'a ref file removed',
    make: (data) => rmSync(join(repositoryIn(data, project), 'refs/heads/side')),
    reported:
      /FAILURE repository .*: the ref refs\/heads\/side is missing, the database knows it at [0-9a-f]{40}/,
    mended: /refs\/heads\/side is at [0-9a-f]{40} again/,
  },
  {
    name: 'a ref file removed of which an older value is packed',
    make: (data) => {
      const repository = repositoryIn(data, project)
      const old = git(repository, 'rev-parse', 'side~1')
      rmSync(join(repository, 'refs/heads/side'))
      git(repository, 'update-ref', 'refs/heads/side', old)
      git(repository, 'pack-refs', '--all')
    },
    reported:
      /FAILURE repository .*: the ref refs\/heads\/side is back at [0-9a-f]{40}, the database knows it at/,
    mended: /refs\/heads\/side is at [0-9a-f]{40} again/,
  },
  {
    name: 'a ref file emptied',
    make: (data) => writeFileSync(join(repositoryIn(data, project), 'refs/heads/side'), ''),
    reported: /FAILURE repository .*: the ref refs\/heads\/side is empty, the database knows it at/,
    mended: /refs\/heads\/side is at [0-9a-f]{40} again/,
  },
  {
    name: 'HEAD gone',
    together: 2,
    make: (data) => rmSync(join(repositoryIn(data, project), 'HEAD')),
    reported: /FAILURE repository .*: HEAD names no branch/,
    mended: /HEAD names the branch main again/,
  },
  {
    name: 'a repository folder gone',
    make: (data) => rmSync(repositoryIn(data, project), { recursive: true }),
    reported: /FAILURE repository .*: is missing on disk/,
    mended: /its folder is made again/,
  },
  {
    name: 'a foreign repository folder',
    together: 3,
    make: (data) => cpSync(repositoryIn(data, fork), repositoryIn(data, 999), { recursive: true }),
    reported: /warning repository 999: the database does not know it: gitstead project import/,
  },
  {
    name: 'a folder that is no repository',
    together: 3,
    make: (data) => mkdirSync(join(data, 'repositories/00/mine.git'), { recursive: true }),
    reported: /warning repositories: .*mine\.git is no repository of this server/,
  },
  {
    name: 'an uploaded file deleted',
    together: 1,
    make: (data) => rmSync(fileIn(data, stored.upload)),
    reported: () =>
      new RegExp(`FAILURE stored file: upload a\\.txt .* ${stored.upload} is missing`),
    mended: /put back from the backup/,
  },
  {
    name: 'a package file altered',
    together: 1,
    make: (data) => writeFileSync(fileIn(data, stored.package), 'package bytez'),
    reported: () =>
      /FAILURE stored file: package file tool\.bin .* has other content than its hash/,
    mended: /put back from the backup/,
  },
  {
    name: 'a package file cut',
    together: 2,
    make: (data) => truncateSync(fileIn(data, stored.package), 3),
    reported: /FAILURE stored file: package file tool\.bin .* has another size/,
    mended: /put back from the backup/,
  },
  {
    name: 'an LFS object deleted',
    together: 1,
    make: (data) => rmSync(fileIn(data, stored.lfs)),
    reported: /FAILURE stored file: large file \(LFS\) of .* is missing/,
    mended: /put back from the backup/,
  },
  {
    name: 'a job log deleted',
    together: 1,
    make: (data) => rmSync(fileIn(data, stored.log)),
    reported: /FAILURE stored file: log of job \d+ of .* is missing/,
    mended: /put back from the backup/,
  },
  {
    name: 'the log of a running job deleted',
    together: 1,
    make: (data) => rmSync(logIn(data)),
    reported: /FAILURE log of job \d+: of .* has 0 of its 21 bytes/,
    mended: /log of job \d+: put back from the backup \S+$/m,
  },
  {
    name: 'the log of a running job cut',
    together: 2,
    make: (data) => truncateSync(logIn(data), 4),
    reported: /FAILURE log of job \d+: of .* has 4 of its 21 bytes/,
    mended: /log of job \d+: put back from the backup \S+$/m,
  },
  {
    name: 'a lock left behind',
    together: 1,
    make: (data) => writeFileSync(join(repositoryIn(data, project), 'refs/heads/side.lock'), ''),
    reported:
      /warning repository .*: refs\/heads\/side\.lock is left over by a process that is gone/,
    mended: /removed refs\/heads\/side\.lock/,
  },
  {
    name: 'a stored file that nothing names',
    together: 1,
    make: (data) => {
      const path = fileIn(data, sha256('nobody'))
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, 'nobody')
      utimesSync(path, new Date('2026-01-01'), new Date('2026-01-01'))
    },
    reported: /warning stored files: 1 are there that nothing names/,
    mended: /removed 1 that nothing names/,
  },
  {
    name: 'the database missing',
    make: (data) => {
      for (const ending of ['', '-wal', '-shm'])
        rmSync(join(data, `gitstead.db${ending}`), { force: true })
    },
    reported: /FAILURE database: the database .* is missing/,
    mended: /database: it was missing; put back from the backup/,
  },
  {
    name: 'secret.key gone',
    make: (data) => rmSync(join(data, 'secret.key')),
    reported: /FAILURE secret key: the key .*secret\.key is missing/,
    mended: /secret key: it was missing; put back from the backup/,
  },
]

const folders = new Map<string | number, Damage[]>()
for (const damage of damages) {
  const { name, together = name } = damage
  folders.set(together, [...(folders.get(together) ?? []), damage])
}

describe('plain doctor finds, and --mend mends', () => {
  test.each(
    [...folders.values()].map((made) => [made.map(({ name }) => name).join(', '), made] as const),
  )(
    '%s',
    async (_names, made) => {
      const data = copyOfBase()
      const before = refsIn(repositoryIn(data, project))
      for (const { make } of made) make(data)
      const found = await doctor(data)
      for (const { reported } of made)
        expect(found.out).toMatch(typeof reported === 'function' ? reported(data) : reported)
      expect(found.code).toBe(found.out.includes('FAILURE') ? 1 : 0)
      const all = made.flatMap(({ mended = [] }) => mended)
      if (all.length === 0) return
      const done = await doctor(data, ['--mend'])
      for (const mended of all) expect(done.out).toMatch(mended)
      expect(faultsOf(done.out)).toEqual([])
      const after = await doctor(data, ['--fsck'])
      expect(faultsOf(after.out)).toEqual([])
      expect(refsIn(repositoryIn(data, project))).toEqual(before)
      expect(fsckAll(data)).toEqual([])
      expect(disagreements(data)).toEqual([])
    },
    60_000,
  )
})

test('a database that is older than the repositories is named, and learns what is there', async () => {
  const data = copyOfBase()
  const aside = join(data, 'old')
  mkdirSync(aside)
  cpSync(join(data, 'gitstead.db'), join(aside, 'gitstead.db'))
  const server = await serveRestored(data, token)
  await commit(server.as, project, 'side', 'later.txt')
  const next = `/projects/${project}/repository/branches?ref=main&branch=later`
  expect((await server.as.post(next)).status).toBe(201)
  await server.close()
  for (const ending of ['-wal', '-shm']) rmSync(join(data, `gitstead.db${ending}`), { force: true })
  cpSync(join(aside, 'gitstead.db'), join(data, 'gitstead.db'))
  rmSync(aside, { recursive: true })
  const reported =
    /warning repository .*: the ref refs\/heads\/side is at [0-9a-f]{40}, the database knows it at [0-9a-f]{40} and may be older/
  const unknown =
    /warning repository .*: the ref refs\/heads\/later is at [0-9a-f]{40}, the database does not know it/
  const found = await doctor(data)
  expect(found.out).toMatch(reported)
  expect(found.out).toMatch(unknown)
  const done = await doctor(data, ['--mend'])
  expect(done.out).toMatch(/the database knows refs\/heads\/side at [0-9a-f]{40} now/)
  expect(done.out).toMatch(/the database knows refs\/heads\/later at [0-9a-f]{40} now/)
  const after = await doctor(data)
  expect(after.out).not.toMatch(reported)
  expect(after.out).not.toMatch(unknown)
  expect(disagreements(data)).toEqual([])
}, 60_000)

test('what was mended is served', async () => {
  const data = copyOfBase()
  rmSync(repositoryIn(data, project), { recursive: true })
  rmSync(fileIn(data, stored.upload))
  rmSync(fileIn(data, stored.log))
  expect((await doctor(data, ['--mend'])).code).toBe(0)
  const server = await serveRestored(data, token)
  try {
    const raw = `/projects/${project}/repository/files/side.txt/raw?ref=side`
    expect((await server.as.get(raw)).body).toBe('content of side.txt')
    expect((await server.as.get(uploadPath)).body).toBe('uploaded text')
    expect((await server.as.get(`${jobPath}/trace`)).body).toBe('all is well\n')
    await commit(server.as, project, 'side', 'after.txt')
  } finally {
    await server.close()
  }
}, 60_000)

test('without a backup, objects come from a fork, and what nobody has stays a failure', async () => {
  const data = copyOfBase()
  const repository = repositoryIn(data, project)
  rmSync(repository, { recursive: true })
  const mended = await doctor(data, ['--mend'], {})
  expect(faultsOf(mended.out)).toEqual([])
  expect(existsSync(repository)).toBe(true)
  expect(git(repository, 'show', 'side:side.txt')).toBe('content of side.txt')
  for (const id of [project, fork]) rmSync(repositoryIn(data, id), { recursive: true })
  const lost = await doctor(data, ['--mend'], {})
  expect(faultsOf(lost.out)).toHaveLength(2)
  expect(existsSync(repository)).toBe(false)
}, 60_000)

test('a clock that runs behind, and what the owner may not write, are named', async () => {
  const data = copyOfBase()
  chmodSync(join(repositoryIn(data, project), 'refs'), 0o500)
  const database = new Database(join(data, 'gitstead.db'))
  database.exec("UPDATE projects SET last_activity_at = '2999-01-01T00:00:00.000Z'")
  database.close()
  const found = await doctor(data)
  expect(found.out).toMatch(/warning clock: .* the database knows of 2999/)
  expect(found.out).toMatch(/FAILURE permissions: .*refs cannot be written by the owner/)
})
