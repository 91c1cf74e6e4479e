import { valid } from 'semver'
import { badRequest, notFound } from '../../base/problem.ts'
import { runInWorker, WorkerLimitError } from '../../base/workers/worker-pool.ts'
import { readYaml } from './read-yaml.ts'

/** What a Chart.yaml says, with a name and version that are checked. */
export interface Chart {
  readonly name: string
  readonly version: string
  readonly content: Readonly<Record<string, unknown>>
}

export const CHART_FILE = { path: /^[^/]+\/Chart\.yaml$/, name: 'Chart.yaml', most: 1024 * 1024 }

const nameForm = /^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$/

export function isChannel(text: string): boolean {
  return text.length <= 255 && nameForm.test(text)
}

/** 404 where there can be no such channel. */
export function assertChannel(text: string): void {
  if (!isChannel(text)) throw notFound('Channel')
}

/** Reads a Chart.yaml. */
export async function readChart(text: string): Promise<Chart> {
  const content = await parse(text)
  const { name, version } = content
  if (typeof name !== 'string' || name.length > 255 || !nameForm.test(name)) {
    throw badRequest('Chart.yaml has no valid name')
  }
  if (typeof version !== 'string' || !isVersion(version)) {
    throw badRequest('Chart.yaml has no valid version')
  }
  return { name, version, content }
}

function isVersion(version: string): boolean {
  const plain = version.replace(/^v/, '')
  return version.length <= 255 && /^\d/.test(plain) && valid(plain) !== null
}

/** Characters of a text that is read at once, in some milliseconds at most: few charts say more. */
const QUICK = 4096
const LONGEST_MS = 2000

async function parse(text: string): Promise<Readonly<Record<string, unknown>>> {
  const content = text.length <= QUICK ? readYaml(text) : await parseLong(text)
  if (!content) throw badRequest('Chart.yaml is no valid YAML')
  return content
}

async function parseLong(text: string): Promise<ReturnType<typeof readYaml>> {
  const module = new URL('./read-yaml.ts', import.meta.url)
  const limits = { timeoutMs: LONGEST_MS, isLong: true }
  try {
    return await runInWorker({ text }, { module, name: 'readLongYaml', ...limits })
  } catch (error) {
    throw error instanceof WorkerLimitError
      ? badRequest('Chart.yaml takes too long to read')
      : error
  }
}

export function chartFileName({ name, version }: Pick<Chart, 'name' | 'version'>): string {
  return `${name}-${version}.tgz`
}
