import { beforeAll, expect, test } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { createProject } from '../../support/create.ts'
import { git } from '../../support/git.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let his: Browser
let starter: TestProject

beforeAll(async () => {
  starter = await addProject(world, ana, 'basic', { path: 'starter' })
  await ana.put(`/projects/${starter.id}`, { topics: ['template'] })
  his = await signedInBrowser(world, ben)
})

const make = (body: Record<string, unknown>, caller = ben) => caller.post('/projects', body)
const folder = (id: number) => world.ctx.git.open(id).path

test('a template is a project whose code one may read', async () => {
  const refusal = (value: unknown) => ({
    message: { template_name: [`'${value}' is unknown or invalid`] },
  })
  for (const template of [starter.id, 'ana/starter', 'ana/none', 9_999_999]) {
    const reply = await make({ name: 'None', template_project_id: template })
    expect([reply.status, reply.body]).toEqual([400, refusal(template)])
  }
  // Guests of a private project do not read its code.
  await addMember(world, starter, ben, 10)
  expect((await make({ name: 'None', template_project_id: starter.id })).status).toBe(400)
  expect((await ben.get('/projects/ben%2Fnone')).status).toBe(404)
  const empty = await createProject(ana, 'Empty')
  expect((await make({ name: 'None', template_project_id: empty.id }, ana)).status).toBe(400)
  await ana.put(`/projects/${starter.id}/members/${ben.id}`, { access_level: 20 })
})

test('its files are the first commit of the new project, and nothing else of it comes along', async () => {
  const { status, body } = await make({
    name: 'Fresh',
    default_branch: 'trunk',
    template_project_id: starter.id,
    initialize_with_readme: true,
  })
  expect([status, body.default_branch, body.empty_repo]).toEqual([201, 'trunk', false])
  const made = folder(body.id)
  const tree = starter.git('rev-parse', 'main^{tree}')
  expect(git(made, ['rev-parse', 'trunk^{tree}'])).toBe(tree)
  expect(git(made, ['log', '--format=%an %s', '--all'])).toBe('ben Initial commit')
  expect(git(made, ['for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/tags'])).toBe(
    'refs/heads/trunk',
  )
  const kinds = git(made, ['cat-file', '--batch-all-objects', '--batch-check=%(objecttype)'])
  expect(kinds.split('\n').filter((kind) => kind === 'commit')).toHaveLength(1)
  expect(git(made, ['fsck', '--full', '--strict'])).not.toContain('error')
  const file = (await ben.get(`/projects/${body.id}/repository/tree`)).body
  expect(file.map(({ name }: { name: string }) => name)).toContain('README.md')
  expect(body.forked_from_project ?? null).toBeNull()
})

test('it is chosen on the page of new projects, also from its own page', async () => {
  const page = await his.get('/ana/starter')
  expect(page.text).toContain('href="/projects/new?template=ana%2Fstarter"')
  const form = await his.get('/projects/new?template=ana%2Fstarter')
  expect(form.text).toMatch(/name="template_project_id"[^>]* value="ana\/starter"/)
  expect(form.text).toContain('<option value="ana/starter">')
  const fields = { name: 'By page', visibility: 'private', template_project_id: 'ana/starter' }
  const [, namespace = ''] = /<option value="(\d+)"[^>]*>ben</.exec(form.text) ?? []
  const at = '/projects/new'
  const made = await submitForm(his, at, at, { ...fields, namespace_id: namespace })
  expect([made.status, made.location]).toEqual([303, '/ben/by-page'])
  expect((await his.get('/ben/by-page')).text).toContain('README.md')
  const wrong = {
    ...fields,
    name: 'Wrong',
    template_project_id: 'ana/none',
    namespace_id: namespace,
  }
  const refused = await submitForm(his, at, at, wrong)
  expect(refused.status).toBe(400)
  expect(refused.text).toContain('is unknown or invalid')
  expect(refused.text).toContain('value="ana/none"')
})

test('a project with a name that makes no path is given one, and a taken name is said once', async () => {
  const at = '/projects/new'
  const form = await his.get(at)
  const [, namespace = ''] = /<option value="(\d+)"[^>]*>ben</.exec(form.text) ?? []
  const fields = { name: 'مشروع', path: '', visibility: 'private', namespace_id: namespace }
  const refused = await submitForm(his, at, at, fields)
  expect(refused.text).toContain('id="field-path-fault"')
  const made = await submitForm(his, at, at, { ...fields, path: 'mashru' })
  expect([made.status, made.location]).toEqual([303, '/ben/mashru'])
  const again = await submitForm(his, at, at, { ...fields, path: 'mashru' })
  expect(again.text).toContain('name has already been taken; path has already been taken')
  expect(again.text).not.toContain('project namespace')
})
