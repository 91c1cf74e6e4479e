import { mkdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Api, asRecord } from '../place/api.ts'
import { gitText, runGit } from '../place/git.ts'
import { rootToken } from '../place/server.ts'
import { done, Known, type Outcome, orLost, outcomeOf, type Writer } from './writer.ts'

/** A project that writers change. */
export interface Target {
  readonly api: Api
  readonly id: number
  readonly path: string
}

/** Pushes one commit after the other to a branch of its own. */
export async function pusher(target: Target, branch: string, folder: string): Promise<Writer> {
  const work = join(folder, `work-${branch}`)
  mkdirSync(work)
  const remote = `${target.api.url.replace('://', `://root:${rootToken}@`)}/${target.path}.git`
  await gitText(work, ['clone', '-q', remote, '.'])
  await gitText(work, ['push', '-q', 'origin', `HEAD:refs/heads/${branch}`])
  const tip = new Known(await gitText(work, ['rev-parse', 'HEAD']))
  let count = 0
  return {
    name: `push to ${branch}`,
    async write() {
      count += 1
      // From what is there, which a push that got no answer may have moved.
      await gitText(work, ['reset', '-q', '--hard', tip.value])
      await writeFile(join(work, `${branch}.txt`), `${count}\n`.repeat(100))
      await gitText(work, ['add', '-A'])
      await gitText(work, ['commit', '-q', '-m', `Number ${count}`])
      const id = await gitText(work, ['rev-parse', 'HEAD'])
      tip.try(id)
      const run = await runGit(work, ['push', '-q', 'origin', `+HEAD:refs/heads/${branch}`])
      const outcome: Outcome = run.ok ? done : { kind: 'refused', reason: run.stderr.slice(-300) }
      tip.answer(outcome)
      return outcome
    },
    async check() {
      const found = await tipOf(target, branch)
      const wanted = tip.value
      if (found === wanted || tip.accept(found)) {
        await runGit(work, ['fetch', '-q', 'origin', branch])
        return []
      }
      return [`${branch} is at ${found}, acknowledged was ${wanted}`]
    },
  }
}

/** Commits through the API to a branch of its own. */
export async function committer(target: Target, branch: string): Promise<Writer> {
  const { api, id } = target
  await api.must('POST', `/projects/${id}/repository/branches?branch=${branch}&ref=main`)
  const messages = new Known('')
  let count = 0
  return {
    name: `commit to ${branch}`,
    async write() {
      count += 1
      const message = `${branch} ${count}`
      messages.try(message)
      const outcome = await orLost(async () =>
        outcomeOf(
          await api.call('POST', `/projects/${id}/repository/commits`, {
            branch,
            commit_message: message,
            actions: [{ action: 'create', file_path: `${branch}/${count}.txt`, content: message }],
          }),
        ),
      )
      messages.answer(outcome)
      return outcome
    },
    async check() {
      const { body } = await api.call('GET', `/projects/${id}/repository/branches/${branch}`)
      const found = String(asRecord(asRecord(body).commit).title ?? '')
      const wanted = messages.value
      // Before the first commit the branch shows the one it began with.
      if (wanted === '' && !found.startsWith(branch)) return []
      return messages.accept(found)
        ? []
        : [`${branch} ends with "${found}", acknowledged was "${wanted}"`]
    },
  }
}

/** Makes and deletes a branch or a tag. */
export function creator(target: Target, kind: 'branches' | 'tags', name: string): Writer {
  const { api, id } = target
  const list = `/projects/${id}/repository/${kind}`
  const exists = new Known(false)
  return {
    name: `${kind} ${name}`,
    async write() {
      const make = !exists.value
      exists.try(make)
      const key = kind === 'tags' ? 'tag_name' : 'branch'
      const outcome = await orLost(async () =>
        outcomeOf(
          make
            ? await api.call('POST', list, { [key]: name, ref: 'main' })
            : await api.call('DELETE', `${list}/${name}`),
        ),
      )
      exists.answer(outcome)
      return outcome
    },
    async check() {
      const { status } = await api.call('GET', `${list}/${name}`)
      const wanted = exists.value
      return exists.accept(status === 200)
        ? []
        : [`${kind} ${name} answers ${status}, acknowledged was ${wanted ? 'made' : 'deleted'}`]
    },
  }
}

async function tipOf({ api, id }: Target, branch: string): Promise<string> {
  const { body } = await api.call('GET', `/projects/${id}/repository/branches/${branch}`)
  return String(asRecord(asRecord(body).commit).id ?? 'nowhere')
}
