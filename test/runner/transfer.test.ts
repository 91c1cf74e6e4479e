import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cacheFile } from '../../src/runner/folder/workspace.ts'
import type { Job, JobArtifacts, JobCache } from '../../src/runner/job.ts'
import { zipOf } from '../support/ci.ts'
import { unzipped } from '../support/unzipped.ts'
import { type FakeRunner, jobOf, openFakeRunner } from './fake-server.ts'

let runner: FakeRunner

beforeAll(async () => {
  runner = await openFakeRunner()
})
beforeEach(() => {
  const { server } = runner
  server.answer = () => undefined
  server.files.length = 0
  server.calls.length = 0
  server.ends.length = 0
})
afterAll(() => runner.close())

async function ranTo(job: Job, more?: Parameters<FakeRunner['run']>[1]) {
  await runner.run([job], more)
  const { state, failure_reason: reason } = runner.server.ends.at(-1) ?? {}
  return { log: runner.server.log(job.id), how: [state, reason] }
}

const archive = (given: Partial<JobArtifacts>): JobArtifacts => ({
  artifact_type: 'archive',
  artifact_format: 'zip',
  ...given,
})

describe('what a job made is sent', () => {
  test('as its paths and exclusions say, with variables in them', async () => {
    const job = jobOf(
      [
        'mkdir -p out/deep .hidden',
        'for f in out/a.txt out/b.tmp out/deep/c.txt .hidden/d other.txt; do echo $f > $f; done',
        'ln -sf a.txt out/link; chmod 755 out/a.txt',
      ],
      {
        variables: { WHERE: 'out', NAME: 'made by/me' },
        artifacts: [
          archive({
            name: 'the $NAME',
            paths: ['$WHERE/', '.hidden/*', 'none', '../*'],
            exclude: ['**/*.tmp'],
            expire_in: '2 days',
          }),
        ],
      },
    )
    const { log, how } = await ranTo(job)
    expect(how[0]).toBe('success')
    const [file] = runner.server.files
    expect(file).toMatchObject({
      name: 'the made by_me.zip',
      type: 'archive',
      format: 'zip',
      expireIn: '2 days',
    })
    const entries = await unzipped(file?.bytes ?? Buffer.alloc(0))
    expect(Object.keys(entries).sort()).toEqual([
      '.hidden/d',
      'out/a.txt',
      'out/deep/c.txt',
      'out/link',
    ])
    expect(entries['out/a.txt']).toBe('out/a.txt\n')
    expect(log).toContain('Uploading archive (4 files')
  })

  test('as reports: each file compressed behind the other, or a single one as it is', async () => {
    const job = jobOf(['echo "<a/>" > a.xml; echo "<b/>" > b.xml; echo "{}" > plan.json'], {
      artifacts: [
        archive({
          name: 'junit.xml',
          paths: ['*.xml'],
          artifact_type: 'junit',
          artifact_format: 'gzip',
        }),
        archive({
          name: 'tfplan.json',
          paths: ['plan.json'],
          artifact_type: 'terraform',
          artifact_format: 'raw',
        }),
      ],
    })
    await ranTo(job)
    const [junit, terraform] = runner.server.files
    expect([junit?.name, junit?.type, junit?.format]).toEqual(['junit.xml.gz', 'junit', 'gzip'])
    expect(gunzipSync(junit?.bytes ?? Buffer.alloc(0)).toString()).toBe('<a/>\n<b/>\n')
    expect([terraform?.name, terraform?.bytes.toString()]).toEqual(['tfplan.json', '{}\n'])
  })

  test('but no report that is a link: it could be to any file of the machine', async () => {
    const secret = join(runner.folder, 'secret')
    await writeFile(secret, 'of the machine')
    const report = (artifact_type: string, artifact_format: string) =>
      archive({ paths: ['*.xml'], artifact_type, artifact_format })
    const job = jobOf([`ln -sf ${secret} a.xml; echo own > b.xml`], {
      artifacts: [report('junit', 'gzip'), report('terraform', 'raw')],
    })
    const { log } = await ranTo(job)
    const [junit, terraform] = runner.server.files
    expect(gunzipSync(junit?.bytes ?? Buffer.alloc(0)).toString()).toBe('own\n')
    expect(terraform?.bytes.toString()).toBe('own\n')
    expect(log).toContain('WARNING: a.xml is a link, and not sent as junit')
  })

  test('as what git does not know, by no setting that the job has made', async () => {
    const job = jobOf(
      [
        'rm -rf .git; git init -q .; echo known > known; git add known; echo new > new',
        'mkdir elsewhere; git config core.worktree $PWD/elsewhere',
      ],
      { artifacts: [archive({ untracked: true })] },
    )
    await ranTo(job)
    const entries = await unzipped(runner.server.files[0]?.bytes ?? Buffer.alloc(0))
    expect(Object.keys(entries)).toContain('new')
    expect(Object.keys(entries)).not.toContain('known')
  })

  test.each([
    ['true', ['always', 'on_success', 'plain']],
    ['false', ['always', 'on_failure']],
  ])('after the script %j only where that is wanted', async (line, sent) => {
    const of = (name: string, more: object) =>
      archive({ name, paths: ['made'], artifact_type: name, ...more })
    const job = jobOf(['touch made', line], {
      artifacts: [
        of('always', { when: 'always' }),
        of('on_success', { when: 'on_success' }),
        of('on_failure', { when: 'on_failure' }),
        of('plain', {}),
      ],
    })
    await ranTo(job)
    expect(runner.server.files.map(({ type }) => type)).toEqual(sent)
  })

  test('or warned of when there is nothing', async () => {
    const { log, how } = await ranTo(
      jobOf(['true'], { artifacts: [archive({ paths: ['nothing/here'] })] }),
    )
    expect(runner.server.files).toEqual([])
    expect(log).toContain('WARNING: nothing/here: no matching files')
    expect(how).toEqual(['success', undefined])
  })

  test('again when the server breaks off or cannot just now', async () => {
    let refusals = 0
    runner.server.answer = ({ method, path }) => {
      if (method !== 'POST' || !path.endsWith('/artifacts') || refusals === 2) return undefined
      refusals += 1
      return refusals === 1 ? 'drop' : { status: 503 }
    }
    const { how } = await ranTo(
      jobOf(['echo x > made'], { artifacts: [archive({ paths: ['made'] })] }),
    )
    expect(refusals).toBe(2)
    expect(runner.server.files).toHaveLength(1)
    expect(how[0]).toBe('success')
  })

  test('but the job fails when the server will not have it, and its own fault stays', async () => {
    runner.server.answer = ({ path }) => (path.endsWith('/artifacts') ? { status: 413 } : undefined)
    const made = { artifacts: [archive({ paths: ['made'], when: 'always' })] }
    const refused = await ranTo(jobOf(['echo x > made'], made))
    expect(refused.how).toEqual(['failed', 'runner_system_failure'])
    expect(refused.log).toContain('ERROR: the server does not take archive')
    const failed = await ranTo(jobOf(['echo x > made; exit 2'], made))
    expect(failed.how).toEqual(['failed', 'script_failure'])
  })
})

describe('what earlier jobs made is fetched', () => {
  const dependency = (id: number) => ({
    id,
    name: `job ${id}`,
    token: `token-of-${id}`,
    artifacts_file: { filename: 'artifacts.zip', size: 1 },
  })

  test('with the token that each of them names, the later over the earlier', async () => {
    runner.server.archives.set(501, await zipOf({ 'out/a.txt': 'one', 'both.txt': 'one' }))
    runner.server.archives.set(502, await zipOf({ 'both.txt': 'two' }))
    const { log, how } = await ranTo(
      jobOf(['cat out/a.txt; echo; cat both.txt; echo'], {
        dependencies: [dependency(501), { id: 503, name: 'without', token: 'x' }, dependency(502)],
      }),
    )
    expect(how[0]).toBe('success')
    expect(log).toContain('\none\n')
    expect(log).toContain('\ntwo\n')
    const asked = runner.server.calls.filter(({ path }) => /^\/jobs\/50\d/.test(path))
    expect(asked.map(({ path, headers }) => [path, headers['job-token']])).toEqual([
      ['/jobs/501/artifacts', 'token-of-501'],
      ['/jobs/502/artifacts', 'token-of-502'],
    ])
  })

  test('or the job fails before its script', async () => {
    const { log, how } = await ranTo(jobOf(['echo never-run'], { dependencies: [dependency(599)] }))
    expect(how).toEqual(['failed', 'runner_system_failure'])
    expect(log).toContain('ERROR: artifacts of an earlier job are not there')
    expect(log).not.toContain('\nnever-run\n')
  })

  test('again when the connection breaks off in the middle', async () => {
    runner.server.archives.set(504, await zipOf({ 'late.txt': 'late' }))
    let drops = 0
    runner.server.answer = ({ path }) => {
      if (path !== '/jobs/504/artifacts' || drops === 1) return undefined
      drops += 1
      return 'drop'
    }
    const { how } = await ranTo(jobOf(['test -f late.txt'], { dependencies: [dependency(504)] }))
    expect([drops, how[0]]).toEqual([1, 'success'])
  })
})

describe('of what is unpacked', () => {
  const unpack = { entries: 10, bytes: 1_000_000 }
  const artifacts = (id: number) => ({
    dependencies: [
      { id, name: 'x', token: 'x', artifacts_file: { filename: 'artifacts.zip', size: 1 } },
    ],
  })

  test('more bytes than a runner allows fail the job before its script', async () => {
    runner.server.archives.set(505, await zipOf({ large: '0'.repeat(2_000_000) }))
    const { log, how } = await ranTo(jobOf(['echo never-run'], artifacts(505)), { unpack })
    expect(how).toEqual(['failed', 'runner_system_failure'])
    expect(log).toContain('ERROR: more than 1000000 bytes are unpacked')
    expect(log).not.toContain('\nnever-run\n')
  })

  test('no more is downloaded either, and not again and again', async () => {
    runner.server.archives.set(506, Buffer.alloc(2_000_000))
    const { log, how } = await ranTo(jobOf(['echo never-run'], artifacts(506)), { unpack })
    expect(how).toEqual(['failed', 'runner_system_failure'])
    expect(log).toContain('ERROR: the server answers with more than 1000000 bytes')
    const asked = runner.server.calls.filter(({ path }) => path === '/jobs/506/artifacts')
    expect(asked).toHaveLength(1)
  })

  test('a cache of more is left out, and what earlier jobs made still fits', async () => {
    const key = 'too-large'
    const cache = { cache: [{ key, paths: ['kept'] }] }
    await ranTo(jobOf(['mkdir -p kept; head -c 2000000 /dev/zero > kept/file'], cache))
    runner.server.archives.set(507, await zipOf({ made: '0'.repeat(900_000) }))
    const job = jobOf(['test -f made'], { ...cache, ...artifacts(507) })
    const { log, how } = await ranTo(job, { unpack })
    expect(log).toContain('WARNING: cache of too-large cannot be used: more than 1000000 bytes')
    expect(how[0]).toBe('success')
  })
})

describe('a cache', () => {
  const cache = (key: string, more: Partial<JobCache> = {}): Pick<Required<Job>, 'cache'> => ({
    cache: [{ key, paths: ['kept'], ...more }],
  })
  const made = (text: string) => [`mkdir -p kept; echo ${text} > kept/file`]
  const clean = 'rm -rf kept'

  test('is kept by its key, with variables in it, for jobs that have the same', async () => {
    await ranTo(jobOf(made('first'), { variables: { LOCK: 'abc' }, ...cache('$LOCK-linux') }))
    await ranTo(jobOf([clean]))
    const same = await ranTo(jobOf(['cat kept/file', clean], cache('abc-linux')))
    expect(same.log).toContain('\nfirst\n')
    expect(same.log).toContain('Restoring cache of abc-linux')
    const other = await ranTo(jobOf(['test ! -e kept'], cache('abd-linux')))
    expect(other.log).toContain('No cache of abd-linux')
    expect(other.how[0]).toBe('success')
  })

  test('falls back to other keys in their order', async () => {
    await ranTo(jobOf(made('of-main'), cache('main')))
    await ranTo(jobOf(made('of-old'), cache('old')))
    await ranTo(jobOf([clean]))
    const { log } = await ranTo(
      jobOf(['cat kept/file', clean], cache('branch', { fallback_keys: ['none', 'main', 'old'] })),
    )
    expect(log).toContain('\nof-main\n')
  })

  test('is only read by pull and only written by push', async () => {
    await ranTo(jobOf(made('base'), cache('policy')))
    await ranTo(jobOf(made('changed'), cache('policy', { policy: 'pull' })))
    await ranTo(jobOf([clean]))
    const pulled = await ranTo(jobOf(['cat kept/file', clean], cache('policy')))
    expect(pulled.log).toContain('\nbase\n')
    const pushed = await ranTo(
      jobOf(['test ! -e kept', ...made('pushed')], cache('policy', { policy: 'push' })),
    )
    expect(pushed.how[0]).toBe('success')
    await ranTo(jobOf([clean]))
    const after = await ranTo(jobOf(['cat kept/file', clean], cache('policy')))
    expect(after.log).toContain('\npushed\n')
  })

  test.each([
    [undefined, 'true', true],
    [undefined, 'false', false],
    ['on_failure', 'false', true],
    ['on_failure', 'true', false],
    ['always', 'false', true],
  ])('with when %s after %s is kept: %s', async (when, line, isKept) => {
    const key = `when-${when}-${line}`
    await ranTo(jobOf([...made('x'), line], cache(key, when ? { when } : {})))
    await ranTo(jobOf([clean]))
    const { log } = await ranTo(jobOf([clean], cache(key)))
    expect(log.includes(`Restoring cache of ${key}`)).toBe(isKept)
  })

  test('that cannot be read or kept is a warning, and the job goes on', async () => {
    const folder = join(runner.folder, 'cache', '7')
    const at = (key: string) =>
      cacheFile({ caches: folder } as Parameters<typeof cacheFile>[0], key) // it reads no more
    await mkdir(join(at('unreadable'), 'in-the-way'), { recursive: true })
    const read = await ranTo(jobOf(made('x'), cache('unreadable')))
    expect(read.how).toEqual(['success', undefined])
    expect(read.log).toContain('WARNING: cache of unreadable cannot be used')
    const job = jobOf(made('x'), cache('unwritable'))
    await mkdir(`${at('unwritable')}.${job.id}.part`)
    const kept = await ranTo(job)
    expect(kept.how).toEqual(['success', undefined])
    expect(kept.log).toContain('WARNING: cache of unwritable cannot be saved')
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])
  })
})
