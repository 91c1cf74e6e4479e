import { beforeAll, expect, test } from 'vitest'
import { commitFiles } from '../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../support/project.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let shared: TestProject
let lint: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'linted' })
  shared = await addProject(world, ana, 'basic', { path: 'shared' })
  for (const one of [project, shared]) await addMember(world, one, dev, 30)
  lint = `/projects/${project.id}/ci/lint`
})

test('says where each included file is, and what includes it', async () => {
  const there = commitFiles(shared, {
    files: {
      'ci/a b.yml': 'include: /deep.yml',
      'deep.yml': 'deep: {script: make}',
      'templates/check/template.yml': 'checked: {script: make}',
    },
  })
  const here = commitFiles(project, {
    files: {
      '.svc-ci.yml': `
include:
  - local: /own.yml
  - {project: ${shared.fullPath}, file: ci/a b.yml}
  - component: $CI_SERVER_FQDN/${shared.fullPath}/check@main
  - template: Bash.svc-ci.yml
`,
      'own.yml': 'own: {script: make}',
    },
  })
  const { body } = await dev.get(lint)
  expect(body.errors).toEqual([])
  const at = (one: TestProject, kind: string, path: string) =>
    `${world.ctx.config.externalUrl}/${one.fullPath}/-/${kind}/${one === shared ? there : here}/${path}`
  const file = (one: TestProject, path: string) => ({
    blob: at(one, 'blob', path),
    raw: at(one, 'raw', path),
  })
  const byProject = { context_project: project.fullPath, context_sha: here }
  expect(body.includes).toMatchObject([
    { type: 'local', location: 'own.yml', ...file(project, 'own.yml'), ...byProject },
    { type: 'file', location: 'ci/a b.yml', ...file(shared, 'ci/a%20b.yml'), ...byProject },
    {
      type: 'local',
      location: 'deep.yml',
      ...file(shared, 'deep.yml'),
      context_project: shared.fullPath,
      context_sha: there,
    },
    { type: 'component', ...file(shared, 'templates/check/template.yml'), ...byProject },
    { type: 'template', location: 'Bash.svc-ci.yml', blob: null, raw: null, ...byProject },
  ])
})

test('hides what is masked in those addresses too', async () => {
  const value = 'masked-and-secret'
  commitFiles(project, { files: { [`${value}/own.yml`]: 'own: {script: make}' } })
  const variable = { key: 'WHERE', value, masked: true }
  expect((await ana.post(`/projects/${project.id}/variables`, variable)).status).toBe(201)
  const { body } = await dev.post(lint, { content: 'include: $WHERE/own.yml' })
  expect(body).toMatchObject({ valid: true, includes: [{ location: '[MASKED]/own.yml' }] })
  expect(JSON.stringify(body.includes)).not.toContain(value)
})

test('takes the configuration of one ref, and tries it out on another', async () => {
  const config = (job: string, where: string) =>
    `include: /part.yml\n${job}: {script: make, rules: [{if: $CI_COMMIT_BRANCH == "${where}"}]}`
  const branch = (name: string, files: Record<string, string>) =>
    commitFiles(project, { ref: `refs/heads/${name}`, files })
  branch('proposal', {
    '.svc-ci.yml': config('proposed', 'target'),
    'part.yml': '.part: {script: proposed}',
  })
  branch('target', { '.svc-ci.yml': config('old', 'nowhere'), 'part.yml': '.part: {script: old}' })
  const ask = async (query: string) => (await dev.get(`${lint}?${query}`)).body
  const both = 'content_ref=proposal&dry_run_ref=target'
  expect(await ask(`${both}&dry_run=true`)).toMatchObject({ valid: true, errors: [] })
  expect((await ask(`${both}&dry_run=true`)).merged_yaml).toContain('script: proposed')
  expect(await ask('sha=proposal&ref=target&dry_run=true')).toMatchObject({ valid: true })
  const none = { valid: false, errors: ['No stages / jobs for this pipeline.'] }
  expect(await ask('content_ref=proposal&dry_run=true')).toMatchObject(none)
  expect(await ask('content_ref=target&dry_run_ref=target&dry_run=true')).toMatchObject(none)
  // Without a dry run, only the configuration itself is looked at.
  expect((await ask(both)).merged_yaml).toContain('proposed')
  expect((await ask('dry_run_ref=target')).merged_yaml).not.toContain('old')
  expect(await ask('content_ref=proposal&dry_run_ref=gone&dry_run=true')).toMatchObject({
    errors: ['Reference not found'],
  })
})

test('a wildcard means stars alone, and never the file that has it', async () => {
  const files = {
    '.svc-ci.yml': 'include: [{local: "**.yml"}]\nroot: {script: make}',
    'a.yml': 'include: {local: "*.yml"}\na: {script: make}',
    'deep/b.yml': 'b: {script: make}',
  }
  const all = await addProject(world, ana, 'basic', { path: 'wild' })
  commitFiles(all, { files })
  const { body } = await ana.get(`/projects/${all.id}/ci/lint?include_jobs=true`)
  expect(body.errors).toEqual([])
  expect(body.jobs.map(({ name }: { name: string }) => name).sort()).toEqual(['a', 'b', 'root'])
  const content = 'include: ["{a,b}.yml"]\nx: {script: make}'
  const one = await ana.post(`/projects/${all.id}/ci/lint`, { content })
  expect(one.body.errors).toEqual(['Local file `{a,b}.yml` does not exist!'])
})

test('a dry run lists the jobs of the pipeline that there would be, by their stages', async () => {
  const content = `
variables: {AT: staging}
late: {stage: deploy, script: [ship], tags: [$SECRET], environment: review/$AT/$SECRET, when: manual}
early: {stage: build, before_script: [prepare], script: [make], tags: [big], needs: []}
never: {script: [x], rules: [{if: $NOTHING}]}
`
  const secret = { key: 'SECRET', value: 'not-to-be-seen', masked: true }
  await ana.post(`/projects/${project.id}/variables`, secret)
  const jobs = async (dry_run: boolean) =>
    (await ana.post(lint, { content, dry_run, include_jobs: true })).body.jobs
  expect((await jobs(false)).map(({ name }: { name: string }) => name)).toEqual([
    'late',
    'early',
    'never',
  ])
  const common = { only: null, except: null, needs: null, after_script: [] }
  expect(await jobs(true)).toEqual([
    {
      ...common,
      name: 'early',
      stage: 'build',
      before_script: ['prepare'],
      script: ['make'],
      tag_list: ['big'],
      environment: null,
      when: 'on_success',
      allow_failure: false,
    },
    {
      ...common,
      name: 'late',
      stage: 'deploy',
      before_script: [],
      script: ['ship'],
      tag_list: ['[MASKED]'],
      environment: 'review/staging/[MASKED]',
      when: 'manual',
      allow_failure: true,
    },
  ])
})
