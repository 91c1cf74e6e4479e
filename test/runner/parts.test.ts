import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { unpackZip, writeZip } from '../../src/runner/archives.ts'
import { findFiles } from '../../src/runner/globs.ts'
import type { Job } from '../../src/runner/job.ts'
import { Mask } from '../../src/runner/mask.ts'
import { JobProcesses } from '../../src/runner/processes/job-processes.ts'
import { runProcess } from '../../src/runner/processes/run-process.ts'
import { shellScript } from '../../src/runner/script.ts'
import { Server } from '../../src/runner/server.ts'
import { Trace } from '../../src/runner/trace.ts'
import { UnpackRoom, usualUnpackLimits } from '../../src/runner/unpack-room.ts'
import { Variables } from '../../src/runner/variables.ts'
import { FakeServer } from './fake-server.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runner-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('masked values', () => {
  test('are hidden wherever the output is cut', () => {
    const secret = 'top-secret-value'
    fc.assert(
      fc.property(fc.array(fc.nat(30), { maxLength: 8 }), (cuts) => {
        const text = Buffer.from(`before ${secret} and ${secret}${secret} after top-sec`)
        const mask = new Mask([secret, 'top'])
        const ends = [...new Set(cuts)].sort((one, other) => one - other)
        let from = 0
        const shown: Buffer[] = []
        for (const end of [...ends, text.length]) {
          shown.push(mask.push(text.subarray(from, end)))
          from = Math.max(from, end)
        }
        shown.push(mask.flush())
        return !Buffer.concat(shown).toString().includes(secret)
      }),
    )
  })

  test('include all that follows the prefix of a token, wherever the output is cut', () => {
    const token = 'svcpat-aB3_x.y-z=9'
    const text = Buffer.from(`a ${token} b svcpat- c svcpa d x${token}/${token}\n${token}`)
    const whole = 'a svcpat-[MASKED] b svcpat- c svcpa d xsvcpat-[MASKED]/svcpat-[MASKED]\n'
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 10 }), (cuts) => {
        const mask = new Mask(['other-value'], ['svcpat-', 'svccbt-'])
        const shown: Buffer[] = []
        let from = 0
        for (const end of [...new Set(cuts)].sort((one, other) => one - other)) {
          shown.push(mask.push(text.subarray(from, end)))
          from = end
        }
        shown.push(mask.push(text.subarray(from)), mask.flush())
        expect(Buffer.concat(shown).toString()).toBe(`${whole}svcpat-[MASKED]`)
      }),
    )
  })
})

describe('variables', () => {
  test('stand for others in their values, but not for ever, and raw ones stay as they are', () => {
    const variables = new Variables(
      [
        { key: 'A', value: 'a' },
        { key: 'B', value: ['$A', '{A}', '$A', '$NONE'].join('-$') },
        { key: 'R', value: '$A', raw: true },
        { key: 'X', value: '$Y' },
        { key: 'Y', value: '$X' },
      ],
      (key) => key,
    )
    expect(variables.get('B')).toBe('a-a-$A-$NONE')
    expect(variables.get('R')).toBe('$A')
    expect(variables.get('X')).toMatch(/^\$[XY]$/)
  })

  test('of files stand for the path in others, and never for the content', () => {
    const variables = new Variables(
      [
        { key: 'WHO', value: 'me' },
        { key: 'SETTINGS', value: 'secret of $WHO', file: true },
        { key: 'OPTIONS', value: '-s $SETTINGS' },
      ],
      (key) => `/files/${key}`,
    )
    expect(variables.environment()).toEqual({
      WHO: 'me',
      SETTINGS: '/files/SETTINGS',
      OPTIONS: '-s /files/SETTINGS',
    })
    expect(variables.expand('$SETTINGS')).toBe('/files/SETTINGS')
    expect(variables.files()).toEqual([['SETTINGS', 'secret of me']])
  })
})

describe('files', () => {
  test('are named by patterns, and never outside the folder', async () => {
    const root = join(folder, 'globs')
    await mkdir(join(root, 'out/deep'), { recursive: true })
    await mkdir(join(root, '.git'))
    for (const path of ['out/a.txt', 'out/deep/b.txt', 'out/deep/c.log', 'top.txt', '.git/config'])
      await writeFile(join(root, path), path)
    const find = async (paths: string[], exclude: string[] = []) =>
      (await findFiles(root, { paths, exclude })).map((file) => file.path)
    expect(await find(['out'])).toEqual(['out/a.txt', 'out/deep/b.txt', 'out/deep/c.log'])
    expect(await find(['out/*.txt'])).toEqual(['out/a.txt'])
    expect(await find(['**/*.txt'])).toEqual(['out/a.txt', 'out/deep/b.txt', 'top.txt'])
    expect(await find(['out/'], ['**/*.log'])).toEqual(['out/a.txt', 'out/deep/b.txt'])
    expect(await find(['../*', '/etc/passwd'])).toEqual([])
  })

  test.each([
    ['*.{txt,log}', ['a.txt', 'b.log']],
    ['**/*.{txt,md}', ['a.txt', 'c.md', 'out/a.txt', 'out/deep/er/c.md']],
    ['{out/deep,none}/*', ['out/deep/b.log', 'out/deep/er/c.md']],
    ['x[0-9]', ['x1', 'x2']],
    ['x[!0-9]', ['xa']],
    ['x[^1]', ['x2', 'xa']],
    ['?1', ['x1']],
    ['out/**/c.md', ['out/deep/er/c.md']],
    ['o*', ['out/a.txt', 'out/deep/b.log', 'out/deep/er/c.md', 'o,dd', 'o.dd'].sort()],
    ['o,dd', ['o,dd']],
    ['o.dd', ['o.dd']],
    ['./out/deep/', ['out/deep/b.log', 'out/deep/er/c.md']],
    ['out/../x1', ['x1']],
    ['x[', []],
  ])('are those that %s names to stock runners too', async (pattern, found) => {
    const root = join(folder, 'patterns')
    const all = 'a.txt b.log c.md x1 x2 xa o,dd o.dd out/a.txt out/deep/b.log out/deep/er/c.md'
    for (const path of all.split(' ')) {
      await mkdir(join(root, dirname(path)), { recursive: true })
      await writeFile(join(root, path), '')
    }
    const files = await findFiles(root, { paths: [pattern], exclude: [] })
    expect(files.map(({ path }) => path)).toEqual(found)
    expect(await findFiles(root, { paths: ['**'], exclude: ['**'] })).toEqual([])
  })

  test('come through an archive, and links are left out of it on the way back', async () => {
    const from = join(folder, 'from')
    await mkdir(join(from, 'd'), { recursive: true })
    await writeFile(join(from, 'd/a.sh'), 'echo', { mode: 0o755 })
    await symlink('/etc/passwd', join(from, 'd/link'))
    const files = await findFiles(from, { paths: ['d'], exclude: [] })
    expect(files).toHaveLength(2)
    await writeZip(from, files, join(folder, 'a.zip'))
    const to = join(folder, 'to')
    await mkdir(to)
    await unpackZip(join(folder, 'a.zip'), to, new UnpackRoom(usualUnpackLimits))
    expect(await readdir(join(to, 'd'))).toEqual(['a.sh'])
  })

  test('of an archive do not leave the folder through a link that is there', async () => {
    const from = join(folder, 'from2')
    await mkdir(join(from, 'd'), { recursive: true })
    await mkdir(join(from, 'd/e'))
    await writeFile(join(from, 'd/e/a.txt'), 'mine')
    await writeZip(from, [{ path: 'd/e/a.txt', isLink: false }], join(folder, 'b.zip'))
    const to = join(folder, 'to2')
    await mkdir(to)
    await mkdir(join(folder, 'victim'))
    await symlink(join(folder, 'victim'), join(to, 'd'))
    await expect(
      unpackZip(join(folder, 'b.zip'), to, new UnpackRoom(usualUnpackLimits)),
    ).rejects.toThrow('leaves the folder')
    expect(await readdir(join(folder, 'victim'))).toEqual([])
  })

  test('of an archive take the place of a pipe, for which nobody waits, and go through links within', async () => {
    const from = join(folder, 'from3')
    await mkdir(join(from, 'd'), { recursive: true })
    await writeFile(join(from, 'd/a.txt'), 'mine')
    await writeZip(from, [{ path: 'd/a.txt', isLink: false }], join(folder, 'c.zip'))
    const to = join(folder, 'to3')
    await mkdir(join(to, 'real'), { recursive: true })
    await symlink('real', join(to, 'd'))
    execFileSync('mkfifo', [join(to, 'real/a.txt')])
    await unpackZip(join(folder, 'c.zip'), to, new UnpackRoom(usualUnpackLimits))
    expect(await readFile(join(to, 'real/a.txt'), 'utf8')).toBe('mine')
  })
})

describe('an archive', () => {
  const zipped = async (name: string, files: Readonly<Record<string, Buffer | string>>) => {
    const from = join(folder, `${name}-from`)
    const to = join(folder, `${name}-to`)
    await mkdir(to)
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(from, path)), { recursive: true })
      await writeFile(join(from, path), content)
    }
    const path = join(folder, `${name}.zip`)
    await writeZip(
      from,
      Object.keys(files).map((path) => ({ path, isLink: false })),
      path,
    )
    return { path, to }
  }
  const limits = { entries: 10, bytes: 1_000_000 }

  test('that unpacks to more bytes than it may ends before them, together with those before it', async () => {
    const bomb = await zipped('bomb', { small: 'x', large: Buffer.alloc(2_000_000) })
    expect((await stat(bomb.path)).size).toBeLessThan(10_000)
    await expect(unpackZip(bomb.path, bomb.to, new UnpackRoom(limits))).rejects.toThrow(
      'more than 1000000 bytes are unpacked',
    )
    expect((await readdir(bomb.to)).filter((name) => name === 'large')).toEqual([])
    const half = await zipped('half', { half: Buffer.alloc(600_000) })
    const room = new UnpackRoom(limits)
    await unpackZip(half.path, half.to, room)
    await expect(unpackZip(half.path, half.to, room)).rejects.toThrow('bytes are unpacked')
  })

  test('that says less than it has is refused where it has more', async () => {
    const { path, to } = await zipped('lying', { large: Buffer.alloc(2_000_000) })
    const bytes = await readFile(path)
    // The size in the directory at the end of the archive.
    const at = bytes.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1')) + 24
    expect(bytes.readUInt32LE(at)).toBe(2_000_000)
    bytes.writeUInt32LE(1000, at)
    await writeFile(path, bytes)
    await expect(unpackZip(path, to, new UnpackRoom(limits))).rejects.toThrow('too many bytes')
    expect((await stat(join(to, 'large'))).size).toBeLessThan(200_000)
  })

  test('that has more files than it may, or makes more folders by their names, ends there', async () => {
    const names = Array.from({ length: 11 }, (_, at) => [`f${at}`, ''] as const)
    const many = await zipped('files', Object.fromEntries(names))
    await expect(unpackZip(many.path, many.to, new UnpackRoom(limits))).rejects.toThrow(
      'more than 10 files are unpacked',
    )
    const deep = await zipped('folders', { 'a/b/c/d/e/f/g/h/i/j/k': '' })
    await expect(unpackZip(deep.path, deep.to, new UnpackRoom(limits))).rejects.toThrow(
      'more than 10 files are unpacked',
    )
  })
})

describe('a full disk', () => {
  const unheard: unknown[] = []
  const note = (error: unknown) => unheard.push(error)
  beforeAll(() => void process.on('unhandledRejection', note))
  afterAll(() => void process.off('unhandledRejection', note))

  test('of an archive is thrown at whoever makes it, while files are still looked for', async () => {
    const from = join(folder, 'many')
    await mkdir(from)
    const names = Array.from({ length: 200 }, (_, at) => `f${at}`)
    for (const name of names) await writeFile(join(from, name), name)
    const files = names.map((path) => ({ path, isLink: false }))
    await expect(writeZip(from, files, '/dev/null/a.zip')).rejects.toThrow('ENOTDIR')
    expect(unheard).toEqual([])
  })

  test('under the log is thrown at whoever waits for what was written', async () => {
    const server = new Server('http://127.0.0.1:9', { token: 'none', systemId: 's', info: {} })
    const job = { id: 1, token: 'secret' } as Job
    const orders = { cancel: () => undefined, abort: () => undefined, tooLong: () => undefined }
    const options = { path: '/dev/full', masked: [], orders, debug: false }
    const trace = await Trace.open(server, job, options)
    trace.line('a line of the log')
    await setTimeout(100)
    await expect(trace.drained()).rejects.toThrow('ENOSPC')
    expect(unheard).toEqual([])
  })

  test('of the log is thrown at whoever runs the process, when it has ended', async () => {
    const ended = runProcess({
      program: 'bash',
      args: ['-c', 'echo first; sleep 0.5'],
      cwd: folder,
      env: { PATH: process.env.PATH ?? '' },
      processes: new JobProcesses(`test-${Math.random()}`, undefined),
      limits: { memory: 0, processes: 0 },
      signal: new AbortController().signal,
      output: () => undefined,
      drained: async () => {
        throw new Error('the disk is full')
      },
    })
    await expect(ended).rejects.toThrow('the disk is full')
    expect(unheard).toEqual([])
  })
})

describe('the end of a log', () => {
  /** Ends a log of one line at a server that answers so; how often it was asked. */
  const finished = async (status: number, asked: (times: number) => void = () => undefined) => {
    const server = new FakeServer()
    const url = await server.listen()
    let times = 0
    server.answer = () => {
      times += 1
      asked(times)
      return { status }
    }
    const runner = new Server(url, { token: 'none', systemId: 's', info: {} })
    const trace = await Trace.open(runner, { id: 1, token: 'secret' } as Job, {
      path: join(folder, `log-${status}`),
      masked: [],
      orders: { cancel: () => undefined, abort: () => undefined, tooLong: () => undefined },
      debug: false,
    })
    trace.line('a line of the log')
    try {
      await trace.finish()
    } finally {
      await trace.close()
      await server.close()
    }
    return times
  }

  test('is given up after some minutes in which the server took nothing', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const times = await finished(500, (time) => {
        if (time === 3) vi.advanceTimersByTime(6 * 60_000)
      })
      expect(times).toBe(3)
    } finally {
      vi.useRealTimers()
    }
  })

  test.each([403, 404])('is sent no more to a server that answers %i', async (status) => {
    // Once while it grows, and once at the end.
    expect(await finished(status)).toBeLessThanOrEqual(2)
  })
})

describe('a process of a job', () => {
  const run = async (
    lines: string[],
    more: { limits?: { memory: number; processes: number }; signal?: AbortSignal } = {},
  ) => {
    const pieces: Buffer[] = []
    const path = join(folder, `s${Math.random()}.sh`)
    await writeFile(path, shellScript(lines, { folder, processes: 0, trace: false }))
    const ended = await runProcess({
      program: 'bash',
      args: [path],
      cwd: folder,
      env: { PATH: process.env.PATH ?? '' },
      processes: new JobProcesses(`test-${Math.random()}`, undefined),
      limits: { memory: 0, processes: 0 },
      signal: new AbortController().signal,
      output: (piece) => pieces.push(piece),
      drained: async () => undefined,
      ...more,
    })
    return { ...ended, text: Buffer.concat(pieces).toString() }
  }

  test('ends at the first line that fails, with its code', async () => {
    const ended = await run(["echo 'it''s on'", 'false | true', 'echo never', 'exit 3'])
    expect(ended.code).toBe(1)
    expect(ended.text).toContain('its on')
    expect(ended.text).not.toContain('\nnever\n')
    expect((await run(['(exit 42)'])).code).toBe(42)
  })

  test('leaves nothing behind that it started, in whatever session', async () => {
    const name = `4${Math.floor(Math.random() * 1e6)}`
    await run([`setsid sleep ${name} >/dev/null 2>&1 &`, `(sleep ${name} &)`, 'echo done'])
    const found = await run([`pgrep -f 'sleep ${name}$' || echo none`])
    expect(found.text).toContain('none')
  })

  test('is ended when it takes too many processes', async () => {
    const limits = { memory: 0, processes: 20 }
    const ended = await run(['for i in $(seq 60); do sleep 30 & done; wait'], { limits })
    expect(ended).toMatchObject({ exceeded: 'processes', code: 137 })
  })

  test('ends on request', async () => {
    const abort = new AbortController()
    const running = run(['echo on; sleep 60'], { signal: abort.signal })
    abort.abort()
    expect((await running).code).toBe(137)
  })
})
