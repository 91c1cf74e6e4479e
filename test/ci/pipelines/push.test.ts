import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { later } from '../../../src/base/clock.ts'
import { refsPushed } from '../../../src/repositories/refs/pushed-task.ts'
import { gitClient } from '../../support/git-client.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { newTestFolder } from '../../support/test-folder.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let count = 0

const simple = 'build: {script: make}\n'

async function newProject(settings = {}): Promise<TestProject> {
  count += 1
  const project = await addProject(world, ana, 'basic', { path: `push${count}`, settings })
  await addMember(world, project, dev, 30)
  return project
}

async function commit(
  project: TestProject,
  content: string,
  more: { branch?: string; message?: string; start?: string } = {},
) {
  const { branch = 'main', message = 'Configure', start } = more
  const known = await ana.get(`${project.api}/files/.svc-ci.yml?ref=${start ?? branch}`)
  const reply = await ana.post(`${project.api}/commits`, {
    branch,
    ...(start ? { start_branch: start } : {}),
    commit_message: message,
    actions: [
      {
        action: known.status === 200 ? 'update' : 'create',
        file_path: '.svc-ci.yml',
        content,
      },
    ],
  })
  expect(reply.status).toBe(201)
  await world.runTasks()
  return reply.body.id as string
}

/** Commits new files as they are. */
async function put(
  project: TestProject,
  files: Readonly<Record<string, string>>,
  more: { branch?: string; start_branch?: string } = {},
) {
  const reply = await ana.post(`${project.api}/commits`, {
    branch: 'main',
    ...more,
    commit_message: 'Add',
    actions: Object.entries(files).map(([file_path, content]) => ({
      action: 'create',
      file_path,
      content,
    })),
  })
  expect(reply.status).toBe(201)
  await world.runTasks()
}

async function pipelines(project: TestProject, query = '') {
  const reply = await ana.get(`/projects/${project.id}/pipelines${query}`)
  return reply.body as { id: number; ref: string; sha: string; status: string; source: string }[]
}

async function jobs(project: TestProject, pipeline: number) {
  const { body } = await ana.get(`/projects/${project.id}/pipelines/${pipeline}/jobs`)
  return body as { id: number; name: string; status: string }[]
}

/** A clone of the project, as a function that runs git in it. */
async function clone(project: TestProject) {
  const folder = newTestFolder()
  mkdirSync(folder, { recursive: true })
  const url = `${world.url.replace('//', `//dev:${dev.token}@`)}/${project.fullPath}.git`
  await gitClient(folder, ['clone', '-q', url, 'work'])
  return (...args: string[]) => gitClient(join(folder, 'work'), args)
}

describe('a push', () => {
  test('makes the pipeline of its branch, whose ref runners can fetch', async () => {
    const project = await newProject()
    const sha = await commit(project, simple)
    const [pipeline, ...others] = await pipelines(project)
    expect(others).toEqual([])
    expect(pipeline).toMatchObject({ ref: 'main', sha, status: 'pending', source: 'push' })
    const { findRef } = await import('../../../src/git/refs/refs.ts')
    const ref = await findRef(world.ctx.git.open(project.id), `refs/pipelines/${pipeline?.id}`)
    expect(ref?.id).toBe(sha)
  })

  test('whose task runs twice makes one pipeline', async () => {
    const project = await newProject()
    await commit(project, simple)
    const { id } = await world.ctx.db
      .selectFrom('pushes')
      .select('id')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
    await world.ctx.work.enqueue(world.ctx.db, refsPushed, { push_ids: [id] })
    await world.runTasks()
    expect(await pipelines(project)).toHaveLength(1)
  })

  test('that comes together with others has a pipeline of its own, like each of them', async () => {
    const project = await newProject()
    await commit(project, simple)
    for (const branch of ['one', 'two', 'three']) {
      const reply = await ana.post(`${project.api}/commits`, {
        branch,
        start_branch: 'main',
        commit_message: branch,
        actions: [{ action: 'create', file_path: branch, content: branch }],
      })
      expect(reply.status).toBe(201)
    }
    await world.runTasks()
    const made = (await pipelines(project)).map(({ ref }) => ref).sort()
    expect(made).toEqual(['main', 'one', 'three', 'two'])
  })

  test('of a tag makes a pipeline of the tag', async () => {
    const project = await newProject()
    await commit(project, simple)
    const made = await ana.post(`/projects/${project.id}/repository/tags?tag_name=v1&ref=main`)
    expect(made.status).toBe(201)
    await world.runTasks()
    const [pipeline] = await pipelines(project)
    expect(pipeline).toMatchObject({ ref: 'v1', source: 'push' })
  })

  test('without a configuration, or whose rules want none, makes no pipeline', async () => {
    const project = await newProject()
    expect(await pipelines(project)).toEqual([])
    await commit(project, 'x: {script: y, only: [tags]}')
    expect(await pipelines(project)).toEqual([])
  })

  test('with a configuration that cannot be used makes a failed pipeline that says why', async () => {
    const project = await newProject()
    await commit(project, 'x: {stage: nowhere, script: y}')
    const [pipeline] = await pipelines(project)
    expect(pipeline).toMatchObject({ status: 'failed' })
    const { body } = await ana.get(`/projects/${project.id}/pipelines/${pipeline?.id}`)
    expect(body.yaml_errors).toContain('chosen stage nowhere does not exist')
  })

  test.each(['Fix [skip ci]', 'Fix [CI SKIP]', 'Fix [ci-skip]', 'Fix [ci_skip]', 'Fix [SKIP_CI]'])(
    'with the message %s makes a pipeline whose jobs are skipped',
    async (message) => {
      const project = await newProject()
      await commit(project, simple, { message })
      const [pipeline] = await pipelines(project)
      expect(pipeline?.status).toBe('skipped')
      expect(await jobs(project, pipeline?.id ?? 0)).toMatchObject([{ status: 'skipped' }])
    },
  )

  test('cancels what older pipelines of the branch still do', async () => {
    const project = await newProject()
    await commit(project, simple)
    await commit(project, `${simple}# 2`)
    expect((await pipelines(project)).map(({ status }) => status)).toEqual(['pending', 'canceled'])
  })

  test('cancels no pipeline for one whose jobs are skipped', async () => {
    const project = await newProject()
    const config = `default: {interruptible: true}\n${simple}`
    await commit(project, config)
    await commit(project, `${config}# 2`, { message: 'Release 1.0 [skip ci]' })
    const found = (await pipelines(project)).map(({ status }) => status)
    expect(found).toEqual(['skipped', 'pending'])
  })

  test('cancels nothing that somebody starts again after it', async () => {
    const project = await newProject()
    await commit(project, simple)
    await commit(project, `${simple}# 2`)
    const [, older] = await pipelines(project)
    await ana.post(`/projects/${project.id}/pipelines/${older?.id}/retry`)
    const before = world.ctx.now()
    world.setNow(later(before, 60_000))
    await world.runTasks()
    world.setNow(before)
    expect((await pipelines(project)).map(({ status }) => status)).toEqual(['pending', 'pending'])
  })

  test('cancels no other pipelines when the project or the configuration says so', async () => {
    const off = await newProject()
    await ana.put(`/projects/${off.id}`, { auto_cancel_pending_pipelines: 'disabled' })
    await commit(off, simple)
    await commit(off, `${simple}# 2`)
    expect((await pipelines(off)).map(({ status }) => status)).toEqual(['pending', 'pending'])
    const kept = await newProject()
    const none = `workflow: {auto_cancel: {on_new_commit: none}}\n${simple}`
    await commit(kept, none)
    await commit(kept, `${none}# 2`)
    expect((await pipelines(kept)).map(({ status }) => status)).toEqual(['pending', 'pending'])
  })

  test('cancels only interruptible jobs where the configuration says so', async () => {
    const project = await newProject()
    const config = `workflow: {auto_cancel: {on_new_commit: interruptible}}
a: {script: a, interruptible: true}
b: {script: b}
`
    await commit(project, config)
    await commit(project, `${config}# 2`)
    const [, older] = await pipelines(project)
    const states = (await jobs(project, older?.id ?? 0)).map(({ name, status }) => [name, status])
    expect(Object.fromEntries(states)).toEqual({ a: 'canceled', b: 'pending' })
  })

  test('is one pipeline for each of at most four refs', async () => {
    const project = await newProject()
    await commit(project, simple)
    const git = await clone(project)
    for (const name of ['a', 'b', 'c', 'd', 'e']) await git('branch', name)
    await git('push', 'origin', 'a', 'b', 'c', 'd', 'e')
    await world.runTasks()
    const refs = (await pipelines(project)).map(({ ref }) => ref).filter((ref) => ref !== 'main')
    expect(refs.sort()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('takes options: ci.skip, and ci.variable for rules and jobs', async () => {
    const project = await newProject()
    await ana.put(`/projects/${project.id}`, {
      ci_pipeline_variables_minimum_override_role: 'developer',
    })
    await commit(project, 'x: {script: y, rules: [{if: $DEPLOY == "now"}]}')
    const git = await clone(project)
    await git('push', '-o', 'ci.variable=DEPLOY=now', 'origin', 'main:one')
    await git('push', '-o', 'ci.variable=DEPLOY=now', '-o', 'ci.skip', 'origin', 'main:two')
    await git('push', 'origin', 'main:three')
    await world.runTasks()
    const found = (await pipelines(project)).map(({ ref, status }) => [ref, status])
    expect(Object.fromEntries(found)).toEqual({ one: 'pending', two: 'skipped' })
    const [made] = await pipelines(project, '?ref=one')
    const { body } = await ana.get(`/projects/${project.id}/pipelines/${made?.id}/variables`)
    expect(body).toMatchObject([{ key: 'DEPLOY', value: 'now' }])
  })

  test('takes no variables from those whom the project does not let set any', async () => {
    const project = await newProject()
    await ana.put(`/projects/${project.id}`, {
      ci_pipeline_variables_minimum_override_role: 'no_one_allowed',
    })
    await commit(project, 'x: {script: y}')
    const git = await clone(project)
    await git('push', '-o', 'ci.variable=DEPLOY=now', 'origin', 'main:one')
    await world.runTasks()
    const [made] = await pipelines(project, '?ref=one')
    const at = `/projects/${project.id}/pipelines/${made?.id}`
    expect((await ana.get(at)).body).toMatchObject({
      status: 'failed',
      yaml_errors: 'Insufficient permissions to set pipeline variables',
    })
    expect((await ana.get(`${at}/jobs`)).body).toEqual([])
  })

  test('ends everything else once a job has failed where the configuration says so', async () => {
    const project = await newProject()
    await commit(
      project,
      'workflow: {auto_cancel: {on_job_failure: all}}\na: {script: a}\nb: {script: b}\n',
    )
    const [pipeline] = await pipelines(project)
    const id = pipeline?.id ?? 0
    const a = (await jobs(project, id)).find(({ name }) => name === 'a')
    const { endJob } = await import('../../../src/ci/pipelines/process/change-jobs.ts')
    const end = { status: 'failed', reason: 'script_failure' } as const
    await endJob(world.ctx, { id: a?.id ?? 0, pipeline_id: id }, end)
    const states = (await jobs(project, id)).map(({ name, status }) => [name, status])
    expect(Object.fromEntries(states)).toEqual({ a: 'failed', b: 'canceled' })
    // What somebody wants to run all the same is not ended for a failure that they know of.
    const b = (await jobs(project, id)).find(({ name }) => name === 'b')
    const again = await ana.post(`/projects/${project.id}/jobs/${b?.id}/retry`)
    expect([again.status, again.body.status]).toEqual([201, 'pending'])
  })
})

describe('a merge request', () => {
  const config = `branch: {script: y, rules: [{if: $CI_COMMIT_BRANCH}]}
review: {script: y, rules: [{if: '$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_TARGET_BRANCH_NAME == "main"'}]}
`
  test('has a pipeline of its own for each head', async () => {
    const project = await newProject()
    await commit(project, config)
    await commit(project, `${config}# 2`, { branch: 'topic', start: 'main' })
    const opened = await dev.post(`/projects/${project.id}/merge_requests`, {
      source_branch: 'topic',
      target_branch: 'main',
      title: 'Topic',
    })
    expect(opened.status).toBe(201)
    await world.runTasks()
    const sha = await commit(project, `${config}# 3`, { branch: 'topic' })
    const found = await pipelines(project, '?source=merge_request_event')
    expect(found).toHaveLength(2)
    expect(found[0]).toMatchObject({ ref: `refs/merge-requests/${opened.body.iid}/head`, sha })
    expect(found[1]?.status).toBe('canceled')
    expect((await jobs(project, found[0]?.id ?? 0)).map(({ name }) => name)).toEqual(['review'])
  })

  test('runs on the trial merge where the project wants merged results', async () => {
    const project = await newProject()
    await ana.put(`/projects/${project.id}`, { merge_pipelines_enabled: true })
    await commit(project, config)
    await commit(project, `${config}# 2`, { branch: 'topic', start: 'main' })
    const { body } = await dev.post(`/projects/${project.id}/merge_requests`, {
      source_branch: 'topic',
      target_branch: 'main',
      title: 'Topic',
    })
    await world.runTasks()
    const [pipeline] = await pipelines(project, '?source=merge_request_event')
    expect(pipeline?.ref).toBe(`refs/merge-requests/${body.iid}/merge`)
    expect(pipeline?.sha).not.toBe(body.sha)
  })

  test('with merged results asks what it changes itself, not what came to the target meanwhile', async () => {
    const project = await newProject()
    await ana.put(`/projects/${project.id}`, { merge_pipelines_enabled: true })
    const rules = (path: string) =>
      `rules: [{if: '$CI_PIPELINE_SOURCE != "push"', changes: [${path}]}]`
    await put(project, {
      '.svc-ci.yml': `docs: {script: y, ${rules('docs/*')}}
code: {script: y, ${rules('code/*')}}
goes: {trigger: {include: child.yml}, ${rules('docs/*')}}
`,
      'child.yml': `inner-docs: {script: y, ${rules('docs/*')}}
inner-code: {script: y, ${rules('code/*')}}
`,
    })
    await put(project, { 'docs/one': '1' }, { branch: 'topic', start_branch: 'main' })
    await put(project, { 'code/one': '1' })
    await dev.post(`/projects/${project.id}/merge_requests`, {
      source_branch: 'topic',
      target_branch: 'main',
      title: 'Topic',
    })
    await world.runTasks()
    const namesOf = async (source: string) => {
      const [made] = await pipelines(project, `?source=${source}`)
      return (await jobs(project, made?.id ?? 0)).map(({ name }) => name)
    }
    expect(await namesOf('merge_request_event')).toEqual(['docs'])
    expect(await namesOf('parent_pipeline')).toEqual(['inner-docs'])
  })
})
