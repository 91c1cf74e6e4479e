import type { Job } from './job.ts'

/**
 * A job whose repository is asked for at another address of its server: the name and password stay, and the path below
 * what the server calls its address.
 */
export function cloneFrom(address: string | undefined, job: Job): Job {
  const { repo_url: given } = job.git_info
  if (address === undefined || !URL.canParse(given)) return job
  const url = new URL(given)
  const { username, password } = url
  url.username = ''
  url.password = ''
  const named = job.variables.find(({ key }) => key === 'CI_SERVER_URL')?.value ?? url.origin
  const base = (URL.canParse(named) ? new URL(named).href : named).replace(/\/+$/, '')
  if (!url.href.startsWith(`${base}/`)) return job
  const moved = new URL(address.replace(/\/+$/, '') + url.href.slice(base.length))
  moved.username = username
  moved.password = password
  return { ...job, git_info: { ...job.git_info, repo_url: moved.href } }
}
