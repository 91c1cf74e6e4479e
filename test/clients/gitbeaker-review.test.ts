import { Gitlab } from '@gitbeaker/rest'
import { expect, test } from 'vitest'
import { addMember } from '../support/members.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()

type Api = InstanceType<typeof Gitlab>

/** The merge request once the server has settled it. */
async function settled(api: Api, projectId: number, iid: number, wanted: string) {
  const show = () => api.MergeRequests.show(projectId, iid)
  await expect
    .poll(async () => (await show()).detailed_merge_status, { timeout: 10_000 })
    .toBe(wanted)
  return await show()
}

test('@gitbeaker/rest, unchanged, runs a whole review from branch to release', async () => {
  const users = { dev: await world.user('dev'), reviewer: await world.user('reviewer') }
  const as = (token: string | null) => new Gitlab({ host: world.url, token: token ?? '' })
  const dev = as(users.dev.token)
  const reviewer = as(users.reviewer.token)
  const project = await dev.Projects.create({ name: 'Reviewed', initializeWithReadme: true })
  await addMember(world, project.id, users.reviewer.id, 30)
  await dev.MergeRequestApprovals.createApprovalRule(project.id, 'one more', 1, {
    userIds: [users.reviewer.id],
  } as never)

  const issue = await dev.Issues.create(project.id, 'It does not greet')
  await dev.Branches.create(project.id, 'greet', 'main')
  await dev.Commits.create(project.id, 'greet', 'Greet', [
    { action: 'create', filePath: 'greet.txt', content: 'hello\nworld\n' },
  ])
  const made = await dev.MergeRequests.create(project.id, 'greet', 'main', 'Greet', {
    description: `Closes #${issue.iid}`,
    removeSourceBranch: true,
  })
  const open = await settled(dev, project.id, made.iid, 'not_approved')
  const refs = open.diff_refs as { base_sha: string; start_sha: string; head_sha: string }
  const thread = await reviewer.MergeRequestDiscussions.create(
    project.id,
    made.iid,
    'Which world?',
    {
      position: {
        baseSha: refs.base_sha,
        startSha: refs.start_sha,
        headSha: refs.head_sha,
        positionType: 'text',
        oldPath: 'greet.txt',
        newPath: 'greet.txt',
        newLine: '2',
      },
    } as never,
  )
  expect(thread.notes?.[0]).toMatchObject({ type: 'DiffNote', position: { new_line: 2 } })
  await reviewer.MergeRequestApprovals.approve(project.id, made.iid)
  await settled(dev, project.id, made.iid, 'mergeable')

  await dev.Commits.create(project.id, 'greet', 'Name the world', [
    { action: 'update', filePath: 'greet.txt', content: 'hello\nearth\n' },
  ])
  await settled(dev, project.id, made.iid, 'not_approved')
  await reviewer.MergeRequestDiscussions.resolve(project.id, made.iid, thread.id, true)
  await reviewer.MergeRequestApprovals.approve(project.id, made.iid)
  await settled(dev, project.id, made.iid, 'mergeable')

  const merged = await dev.MergeRequests.merge(project.id, made.iid)
  expect(merged.state).toBe('merged')
  await expect
    .poll(async () => (await dev.Issues.show(issue.iid, { projectId: project.id })).state, {
      timeout: 10_000,
    })
    .toBe('closed')
  const release = await dev.ProjectReleases.create(project.id, {
    name: 'One',
    tagName: 'v1',
    ref: 'main',
    description: 'Greets',
  })
  expect(release.commit.id).toBe(merged.merge_commit_sha)
}, 60_000)
