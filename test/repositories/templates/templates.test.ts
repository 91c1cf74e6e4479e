import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

test('templates of pipelines come in pages, under both words of the vendor', async () => {
  const first = await world.nobody.get('/templates/svc_ci_ymls')
  expect(first.body).toHaveLength(20)
  expect(first.headers.get('link')).toContain('rel="next"')
  const other = await world.nobody.get('/templates/gitlab_ci_ymls')
  expect(other.body).toEqual(first.body)
  const pages = await world.nobody.get('/templates/svc_ci_ymls?per_page=100')
  expect(pages.body.length).toBeGreaterThan(20)
})

test('every template of a pipeline is a pipeline', async () => {
  const { body } = await world.nobody.get('/templates/svc_ci_ymls?per_page=100')
  for (const { key } of body as { key: string }[]) {
    const one = await world.nobody.get(`/templates/svc_ci_ymls/${encodeURIComponent(key)}`)
    expect(one.body.name).toBe(key)
    const jobs = Object.values(parse(one.body.content)).filter(
      (job) => typeof job === 'object' && job !== null && 'script' in job,
    )
    expect(jobs.length, key).toBeGreaterThan(0)
  }
})

test.each([
  ['dockerfiles', 'Python', 'FROM python'],
  ['gitignores', 'Node', 'node_modules/'],
  ['svc_ci_ymls', 'Nodejs', 'image: node'],
])('%s has %s', async (kind, name, words) => {
  const one = await world.nobody.get(`/templates/${kind}/${name}`)
  expect(one.body).toEqual({ name, content: expect.stringContaining(words) })
  const none = await world.nobody.get(`/templates/${kind}/nothing-of-the-kind`)
  expect([none.status, none.body]).toEqual([404, { message: '404 Template Not Found' }])
  expect((await world.nobody.get(`/templates/${kind}/constructor`)).status).toBe(404)
})

test('a licence has the year, and the full name that was asked for or the caller’s', async () => {
  const path = '/templates/licenses/bsd-2-clause'
  const asked = await world.nobody.get(`${path}?fullname=Bernd+B.&project=x`)
  expect(asked.body.content).toContain('Copyright (c) 2026 Bernd B.')
  expect(asked.body).toMatchObject({ key: 'bsd-2-clause', popular: false, nickname: null })
  expect((await ana.get(path)).body.content).toContain('Copyright (c) 2026 ana')
  expect((await world.nobody.get(path)).body.content).toContain('2026 [fullname]')
  const popular = await world.nobody.get('/templates/licenses?popular=true')
  expect(popular.body.map((one: { key: string }) => one.key)).toEqual([
    'apache-2.0',
    'gpl-3.0',
    'mit',
  ])
})

test('a project adds the descriptions of its own repository', async () => {
  const { id } = await createProject(ana, 'p', { initialize_with_readme: true })
  const path = encodeURIComponent('.svc/issue_templates/Bug.md')
  await ana.post(`/projects/${id}/repository/files/${path}`, {
    branch: 'main',
    content: 'What happened?',
    commit_message: 'Ask',
  })
  const of = (rest: string) => ana.get(`/projects/${id}/templates/${rest}`)
  expect((await of('issues')).body).toEqual([{ key: 'Bug', name: 'Bug' }])
  expect((await of('issues/Bug')).body).toEqual({ name: 'Bug', content: 'What happened?' })
  expect((await of('issues/..%2FBug')).status).toBe(404)
  expect((await of('merge_requests')).body).toEqual([])
  expect((await of('licenses/mit')).body.content).toContain('Copyright (c) 2026 ana')
  expect((await of('gitlab_ci_ymls/Go')).body.name).toBe('Go')
  const wrong = await of('recipes')
  expect([wrong.status, wrong.body]).toEqual([400, { error: 'type does not have a valid value' }])
})
