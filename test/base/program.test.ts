import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type ProgramCommand, startProgram } from '../../src/base/programs/program.ts'

const env = { PATH: process.env.PATH ?? '' }
const start = (program: string, ...args: string[]) => startProgram({ program, args, env })
const shell = (script: string, more: Partial<ProgramCommand> = {}) =>
  startProgram({ program: 'sh', args: ['-c', script], env, ...more })

function isThere(pid: number): boolean {
  return /^\d+ \(.*\) [^ZX]/.test(readStat(pid))
}

function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}

test('a program gets what is written at once, and its output and end come back', async () => {
  const bytes = Buffer.alloc(3 * 1024 * 1024, 'gitstead')
  const program = start('cat')
  program.stdin.write(bytes)
  program.stdin.end('end')
  const read = await buffer(program.stdout)
  expect(read.equals(Buffer.concat([bytes, Buffer.from('end')]))).toBe(true)
  expect(await program.closed).toEqual({ code: 0, signal: null })
})

test('what it says on standard error, its folder, environment and exit code are its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-program-test-'))
  const program = shell('pwd; echo "$WORD" >&2; exit 7', {
    cwd: folder,
    env: { ...env, WORD: 'w' },
  })
  program.stdin.end()
  const [out, err, end] = await Promise.all([
    text(program.stdout),
    text(program.stderr),
    program.closed,
  ])
  expect([out, err, end]).toEqual([`${folder}\n`, 'w\n', { code: 7, signal: null }])
  rmSync(folder, { recursive: true })
})

test('two more ends are read and written as a program expects, which waits for them', async () => {
  const program = startProgram({
    program: 'sh',
    args: ['-c', 'echo asked >&3; read answer <&4; echo "$answer"'],
    env,
    extra: true,
  })
  program.stdin.end()
  program.extra.from.once('data', (chunk: Buffer) => program.extra.to.write(`to ${chunk}`))
  expect(await text(program.stdout)).toBe('to asked\n')
  expect(await program.closed).toEqual({ code: 0, signal: null })
})

test('its end is noticed although nobody reads what it writes', async () => {
  const program = shell('head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2')
  program.stdout.once('data', () => {})
  program.stderr.resume()
  expect(await program.closed).toEqual({ code: 0, signal: null })
})

test('one that closes its input early, or ends without reading it, holds up nobody who writes', async () => {
  const program = start('true')
  const closed = new Promise((resolve) => program.stdin.once('close', resolve))
  for (let n = 0; n < 64; n += 1) program.stdin.write(Buffer.alloc(65_536))
  expect(await program.closed).toEqual({ code: 0, signal: null })
  await closed
})

test.each([
  ['a program that is not there', { program: 'no-such-program-at-all' }],
  ['a folder that is not there', { cwd: '/no-such-folder-at-all' }],
])('%s is reported as by the system, and its streams end', async (_, more) => {
  const program = startProgram({ program: 'cat', args: [], env, ...more })
  expect(await text(program.stdout)).toBe('')
  const error = await program.closed.catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'ENOENT' })
  await expect(program.pid).rejects.toMatchObject({ code: 'ENOENT' })
})

test('more arguments than the system takes are refused, and the next program starts', async () => {
  const program = start('true', 'x'.repeat(4 * 1024 * 1024))
  await expect(program.closed).rejects.toMatchObject({ code: 'E2BIG' })
  const next = start('true')
  expect(await next.closed).toEqual({ code: 0, signal: null })
})

test('a signal ends it, also before it runs; one after its end goes to nobody', async () => {
  const early = start('sleep', '60')
  early.kill('SIGKILL')
  expect(await early.closed).toEqual({ code: null, signal: 'SIGKILL' })
  const late = start('sleep', '60')
  await late.pid
  late.kill('SIGTERM')
  expect(await late.closed).toEqual({ code: null, signal: 'SIGTERM' })
  late.kill('SIGKILL')
})

test('whoever goes away at once, from its input or its output, holds up nobody', async () => {
  const unfed = start('cat')
  unfed.stdin.destroy()
  expect(await unfed.closed).toEqual({ code: 0, signal: null })
  for (const wait of [0, 1, 2]) {
    const unread = start('cat')
    await sleep(wait)
    unread.stdout.destroy()
    unread.kill('SIGKILL')
    await unread.closed
  }
})

test('one that is killed while its reader pauses closes, too', async () => {
  const program = start('cat', '/dev/zero')
  program.stdout.once('data', () => program.stdout.pause())
  await program.pid
  await sleep(100)
  program.kill('SIGKILL')
  expect(await program.closed).toEqual({ code: null, signal: 'SIGKILL' })
})

test('a signal to its group ends what it has started, too', async () => {
  const program = shell('sleep 60 & echo $!; wait', { detached: true })
  const inner = await new Promise<number>((resolve) =>
    program.stdout.once('data', (chunk: Buffer) => resolve(Number(chunk))),
  )
  program.kill('SIGKILL', 'group')
  expect(await program.closed).toEqual({ code: null, signal: 'SIGKILL' })
  await expect.poll(() => isThere(inner)).toBe(false)
})

test('many start at once, each with ends of its own', async () => {
  const programs = Array.from({ length: 60 }, (_, n) => shell(`cat; echo ${n}`))
  for (const [n, program] of programs.entries()) program.stdin.end(`${n} `)
  const texts = await Promise.all(programs.map(({ stdout }) => text(stdout)))
  expect(texts).toEqual(programs.map((_, n) => `${n} ${n}\n`))
})
