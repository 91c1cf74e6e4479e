import { readFileSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { makeLog } from '../../src/base/log.ts'
import { gitClient, makeProject, openClientFolders } from '../support/git-client.ts'
import { openWorld } from '../support/world.ts'

const linesOf = (path: string): Record<string, unknown>[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test('each request is written down with who asked, into a file that may be moved away', async () => {
  const accessLog = join(tmpdir(), `gitstead-access-${process.pid}-${Date.now()}.log`)
  const world = await openWorld({ accessLog })
  const folders = openClientFolders()
  try {
    const ana = await world.user('ana')
    await ana.get('/user?search=not-to-be-written')
    await world.nobody.get('/projects')
    await expect.poll(() => linesOf(accessLog)).toHaveLength(2)
    const [first, second] = linesOf(accessLog)
    expect(first).toMatchObject({
      address: '127.0.0.1',
      user: 'ana',
      method: 'GET',
      path: '/api/v4/user',
      status: 200,
      whole: true,
      time: expect.stringMatching(/^2026-05-04T/),
    })
    expect(first?.bytes).toBeGreaterThan(100)
    expect(second).toMatchObject({ user: null, path: '/api/v4/projects', status: 200 })
    expect(readFileSync(accessLog, 'utf8')).not.toContain('not-to-be-written')
    renameSync(accessLog, `${accessLog}.1`)
    await pause(1100)
    const project = await makeProject(world, ana, 'cloned')
    await gitClient(await folders.folder(), ['clone', '-q', project.url(ana), 'copy'])
    // git asks without a password first.
    const byAna = () =>
      linesOf(accessLog).filter(({ user, path }) => user === 'ana' && /\.git\//.test(String(path)))
    await expect.poll(() => byAna().length).toBeGreaterThan(0)
  } finally {
    await world.close()
    await folders.clear()
  }
})

test('an answer that is streamed is written down without a warning of node', async () => {
  const warnings: string[] = []
  const heard = (warning: Error) => void warnings.push(warning.name)
  process.on('warning', heard)
  const world = await openWorld({ accessLog: join(tmpdir(), `streamed-${process.pid}.log`) })
  try {
    const ana = await world.user('ana')
    const { body } = await ana.post('/projects', { name: 'demo' })
    expect((await ana.get(`/projects/${body.id}/packages/pypi/simple`)).status).toBe(200)
    await pause(50)
    expect(warnings).toEqual([])
  } finally {
    process.off('warning', heard)
    await world.close()
  }
})

test('what takes longer than the settings say is logged as slow', async () => {
  const lines: string[] = []
  const log = makeLog({ level: 'warn', write: (line) => void lines.push(line) })
  const world = await openWorld({ slowRequest: 1 }, { log })
  try {
    const ana = await world.user('ana')
    const body = { name: 'demo', initialize_with_readme: true }
    expect((await ana.post('/projects', body)).status).toBe(201)
    await expect.poll(() => lines.join('')).toContain('slow request')
    const slow = lines
      .map((line) => JSON.parse(line))
      .find(({ message }) => message === 'slow request')
    expect(slow).toMatchObject({
      level: 'warn',
      method: 'POST',
      path: '/api/v4/projects',
      user: 'ana',
    })
  } finally {
    await world.close()
  }
})
