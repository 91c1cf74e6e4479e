import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { addRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let group: { id: number }
let path: string

beforeAll(async () => {
  group = await createGroup(ana, 'team')
  project = await addProject(world, ana, 'basic', { path: 'vars' })
  await ana.put(`/projects/${project.id}/transfer`, { namespace: group.id })
  await addMember(world, project, dev, 30)
  path = `/projects/${project.id}/variables`
})

describe('variables', () => {
  test('are added, read, changed and removed, and lie sealed in the database', async () => {
    const made = await ana.post(path, { key: 'TOKEN', value: 'very-secret-value', masked: true })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      key: 'TOKEN',
      value: 'very-secret-value',
      variable_type: 'env_var',
      hidden: false,
      protected: false,
      masked: true,
      raw: false,
      environment_scope: '*',
      description: null,
    })
    const stored = await world.ctx.db.selectFrom('ci_variables').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain('very-secret-value')
    const changed = await ana.put(`${path}/TOKEN`, {
      protected: true,
      description: 'for the mirror',
    })
    expect(changed.body).toMatchObject({
      protected: true,
      description: 'for the mirror',
      value: 'very-secret-value',
    })
    expect((await dev.get(`${path}/TOKEN`)).status).toBe(403)
    expect((await ana.delete(`${path}/TOKEN`)).status).toBe(204)
    expect((await ana.get(`${path}/TOKEN`)).body).toEqual({ message: '404 Variable Not Found' })
  })

  test('that are hidden are never shown again, nor made visible', async () => {
    const made = await ana.post(path, { key: 'HIDE', value: 'abcdefgh', masked_and_hidden: true })
    expect(made.body).toMatchObject({ value: null, hidden: true, masked: true })
    expect((await ana.put(`${path}/HIDE`, { masked: false })).status).toBe(400)
    const described = await ana.put(`${path}/HIDE`, { description: 'kept' })
    expect(described.body).toMatchObject({ value: null, description: 'kept' })
  })

  test.each([
    ['short', { masked: true }, { value: ['is invalid'] }],
    ['with a space', { masked: true }, { value: ['is invalid'] }],
    ['two\nlines-are-long', { masked: true, raw: true }, { value: ['is invalid'] }],
    ['$not_in_alphabet', { masked: true }, { value: ['is invalid'] }],
    ['x'.repeat(10_001), {}, { value: ['is too long (maximum is 10000 characters)'] }],
  ])('whose value may not be %j are refused', async (value, more, message) => {
    expect((await ana.post(path, { key: 'BAD', value, ...more })).body).toEqual({ message })
  })

  test('whose key is none, or is there already, are refused', async () => {
    const bad = await ana.post(path, { key: 'a-b', value: 'x' })
    expect(bad.body.message.key).toEqual(["can contain only letters, digits and '_'."])
    await ana.post(path, { key: 'TWICE', value: 'x' })
    expect((await ana.post(path, { key: 'TWICE', value: 'y' })).body).toEqual({
      message: { key: ['(TWICE) has already been taken'] },
    })
  })

  test('of several scopes are told apart by the filter', async () => {
    await ana.post(path, { key: 'URL', value: 'one', environment_scope: 'production' })
    await ana.post(path, { key: 'URL', value: 'two', environment_scope: 'review/*' })
    expect((await ana.get(`${path}/URL`)).status).toBe(409)
    const filter = `filter[environment_scope]=${encodeURIComponent('review/*')}`
    expect((await ana.get(`${path}/URL?${filter}`)).body.value).toBe('two')
    const changed = await ana.put(`${path}/URL`, {
      value: 'three',
      filter: { environment_scope: 'review/*' },
    })
    expect(changed.body).toMatchObject({ value: 'three', environment_scope: 'review/*' })
    expect((await ana.delete(`${path}/URL?${filter}`)).status).toBe(204)
    expect((await ana.get(`${path}/URL`)).body.value).toBe('one')
  })

  test('of the instance, the group and the project reach a job, the nearest winning', async () => {
    await world.root.post('/admin/ci/variables', { key: 'A', value: 'instance' })
    await world.root.post('/admin/ci/variables', { key: 'B', value: 'instance' })
    await ana.post(`/groups/${group.id}/variables`, { key: 'B', value: 'group' })
    await ana.post(`/groups/${group.id}/variables`, { key: 'C', value: 'group' })
    await ana.post(path, { key: 'C', value: 'project', variable_type: 'file' })
    await ana.post(path, { key: 'PROTECTED', value: 'for-main-only', protected: true })
    commitFiles(project, { files: { '.svc-ci.yml': 'x: {script: make}' }, ref: 'refs/heads/open' })
    await ana.post(`/projects/${project.id}/pipeline`, { ref: 'open' })
    const runner = await addRunner(world, ana, project.id)
    const job = await runner.request()
    const sent = new Map(
      job?.variables.map((one: { key: string }) => [one.key, one]) as [string, object][],
    )
    expect(sent.get('A')).toMatchObject({ value: 'instance' })
    expect(sent.get('B')).toMatchObject({ value: 'group' })
    expect(sent.get('C')).toMatchObject({ value: 'project', file: true })
    expect(sent.has('PROTECTED')).toBe(false)
    expect(sent.has('URL')).toBe(false)
  })
})

test('a job is told the languages of its project, the largest share first', async () => {
  const spoken = await addProject(world, ana, 'basic', { path: 'spoken' })
  const files = {
    '.svc-ci.yml': 'job: {script: make}',
    'big.rb': 'puts 1\n'.repeat(500),
    'small.go': 'package main\n',
  }
  commitFiles(spoken, { files })
  const at = `/projects/${spoken.id}`
  const runner = await addRunner(world, ana, spoken.id)
  const { body: shares } = await ana.get(`${at}/languages`)
  expect(Object.keys(shares)).toEqual(expect.arrayContaining(['Ruby', 'Go']))
  expect((await ana.post(`${at}/pipeline`, { ref: 'main' })).status).toBe(201)
  const job = await runner.request()
  const sent = job?.variables.find(
    (one: { key: string }) => one.key === 'CI_PROJECT_REPOSITORY_LANGUAGES',
  )
  const names = Object.entries(shares as Record<string, number>)
    .sort(([, a], [, b]) => b - a)
    .map(([name]) => name.toLowerCase())
  expect(names[0]).toBe('ruby')
  expect(sent?.value).toBe(names.join(','))
})
