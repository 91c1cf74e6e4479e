import { join } from 'node:path'
import { type Api, asRecord, asRecords } from '../place/api.ts'
import type { TortureServer } from '../place/server.ts'

/** Lines of the log of the first job. */
export const LOG_LINES = 300

/** A project whose pipelines are run, and what was acknowledged of them. */
export interface Pipelines {
  readonly api: Api
  /** `/projects/1` */
  readonly path: string
  readonly runnerToken: string
  /** A file that each script adds the number of its job to. */
  readonly runs: string
  /** Pipelines and commits that were acknowledged. */
  readonly ids: ReadonlySet<number>
  readonly commits: ReadonlySet<string>
  /** Those that somebody asked to cancel. */
  readonly canceled: ReadonlySet<number>
  count(): number
  /** Makes the next pipeline, by request or by a commit; the server may die meanwhile. */
  begin(at: number): Promise<void>
  cancelNewest(): Promise<void>
}

const configOf = (runs: string, marks: string) => `
stages: [build, test, deploy]
default: {before_script: ['echo $CI_JOB_ID >> ${runs}']}
make:
  stage: build
  script:
    - 'i=0; while [ $i -lt ${LOG_LINES} ]; do i=$((i + 1)); echo "line $i"; [ $((i % 100)) = 0 ] && sleep 0.3; done; true'
    - 'mkdir -p out && echo "made by $CI_PIPELINE_ID" > out/made'
  artifacts: {paths: [out]}
use:
  stage: test
  parallel: 2
  script: ['grep -q "made by $CI_PIPELINE_ID" out/made', sleep 0.2]
fails: {stage: test, script: [exit 3], allow_failure: true}
again:
  stage: test
  retry: 1
  script: ['test -f ${marks}-$CI_PIPELINE_ID || { touch ${marks}-$CI_PIPELINE_ID; exit 1; }']
child: {stage: test, trigger: {include: child.yml, strategy: depend}}
last: {stage: deploy, script: [sleep 0.1]}
`

const child = (runs: string) =>
  `inner: {script: ['echo $CI_JOB_ID >> ${runs}', sleep 0.2, echo inner]}`

/** Makes the project with its configuration and runner. */
export async function openProject(server: TortureServer, folder: string): Promise<Pipelines> {
  const api = server.root
  const runs = join(folder, 'runs')
  const project = await api.must('POST', '/projects', {
    name: 'pipelines',
    initialize_with_readme: true,
    // Each of them is to reach its end.
    auto_cancel_pending_pipelines: 'disabled',
  })
  const path = `/projects/${project.id}`
  const runner = await api.must('POST', '/user/runners', {
    runner_type: 'project_type',
    project_id: project.id,
  })
  await api.must('POST', `${path}/repository/commits`, {
    branch: 'main',
    commit_message: 'Configure [skip ci]',
    actions: [
      { action: 'create', file_path: '.svc-ci.yml', content: configOf(runs, join(folder, 'mark')) },
      { action: 'create', file_path: 'child.yml', content: child(runs) },
    ],
  })
  const ids = new Set<number>()
  const commits = new Set<string>()
  const canceled = new Set<number>()
  return {
    ...{ api, path, runs, ids, commits, canceled },
    runnerToken: String(runner.token),
    count: () => ids.size + commits.size,
    async begin(at) {
      const reply = await (at % 2 === 0
        ? api.call('POST', `${path}/pipeline`, { ref: 'main' })
        : api.call('POST', `${path}/repository/commits`, {
            branch: 'main',
            commit_message: `Number ${at}`,
            actions: [{ action: 'create', file_path: `${at}.txt`, content: String(at) }],
          })
      ).catch(() => undefined)
      if (reply === undefined || reply.status >= 300) return
      const { id } = asRecord(reply.body)
      if (typeof id === 'number') ids.add(id)
      else commits.add(String(id))
    },
    async cancelNewest() {
      const list = await api.call('GET', `${path}/pipelines?per_page=1`).catch(() => undefined)
      const [newest] = asRecords(list?.body)
      if (newest === undefined) return
      canceled.add(Number(newest.id))
      await api.call('POST', `${path}/pipelines/${newest.id}/cancel`).catch(() => undefined)
    },
  }
}
