import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({ healthSchedule: '15 4 * * *' })
const ana = useCaller(world, 'ana')
let project = 0
beforeAll(async () => {
  project = (await createProject(ana, 'demo', { initialize_with_readme: true })).id
})

const checks = async () => (await world.root.get('/admin/health_checks')).body
const metrics = async () => String((await world.root.get('/-/metrics', { host: true })).body)
const mails = () => {
  const folder = join(world.folder, 'outbox')
  const names = readdirSync(folder).filter((name) => name.startsWith('health-'))
  return names.map((name) => readFileSync(join(folder, name), 'utf8'))
}

test('the server checks its data once a day, and mails administrators what is new', async () => {
  expect(await metrics()).not.toContain('gitstead_health')
  await world.runTasks()
  expect(await checks()).toMatchObject([{ state: 'warning' }])
  expect(await metrics()).toMatch(/^gitstead_health_last_findings\{state="failure"\} 0$/m)
  expect((await ana.get('/admin/health_checks')).status).toBe(403)
  const refs = join(world.folder, 'repositories/01', `${project}.git`, 'refs/heads/main')
  rmSync(refs)
  for (const day of ['05', '06']) {
    world.setNow(`2026-05-${day}T04:15:10.000Z`)
    await world.runTasks()
    const [last] = await checks()
    expect(last.state).toBe('failure')
    const lost = expect.objectContaining({
      name: `repository ana/demo (${project})`,
      state: 'failure',
      text: expect.stringContaining('the ref refs/heads/main is missing'),
    })
    expect(last.findings).toEqual(expect.arrayContaining([lost]))
    // Not again for what they know already.
    expect(mails()).toHaveLength(1)
  }
  expect(mails()[0]).toMatch(/^Subject: Something is broken$/m)
  expect(await checks()).toHaveLength(3)
  expect(await metrics()).toMatch(/^gitstead_health_last_state\{state="failure"\} 1$/m)
  expect(await metrics()).toMatch(/^gitstead_health_last_findings\{state="failure"\} 1$/m)
}, 240_000)

test('the dashboard shows figures that there are', async () => {
  await world.root.get('/version')
  await world.ctx.db
    .insertInto('backups')
    .values({
      state: 'success',
      name: 'one',
      folder: '/backups',
      started_at: '2026-05-04T09:00:00.000Z',
      finished_at: '2026-05-04T09:01:00.000Z',
    })
    .execute()
  const known = new Set((await metrics()).match(/^[a-z_]+/gm))
  const text = readFileSync(
    new URL('../../../docs/grafana-dashboard.json', import.meta.url),
    'utf8',
  )
  const { panels } = JSON.parse(text) as { panels: { targets: { expr: string }[] }[] }
  const asked = panels.flatMap(({ targets }) =>
    targets.flatMap(({ expr }) => expr.match(/\b(?:gitstead|process|nodejs)_[a-z_]+/g) ?? []),
  )
  expect(asked.length).toBeGreaterThan(20)
  expect(asked.filter((name) => !known.has(name))).toEqual([])
})
