import { setTimeout as sleep } from 'node:timers/promises'
import type { PlaceInput } from '../executor.ts'
import { JobFailure, type JobImage, type JobService } from '../job.ts'
import { type ContainerTool, limitArguments, variableArguments } from './container-tool.ts'

/** How long a job waits until its services listen, as with stock runners. */
const READY_MS = 30_000
const LOOK_MS = 200

/** A container of a service that runs. */
interface Started {
  readonly container: string
  readonly image: string
  readonly names: readonly string[]
}

/**
 * Starts the services of a job and waits until they listen. Gives the arguments by which its own container finds them:
 * a name server beside the containers may learn of them later than the job asks.
 */
export async function startServices(
  tool: ContainerTool,
  network: string,
  given: PlaceInput,
): Promise<string[]> {
  const hosts: string[] = []
  for (const [index, service] of (given.job.services ?? []).entries()) {
    const container = `${network}-service-${index}`
    const started = await startService(tool, network, container, { given, service, hosts })
    hosts.push(...(await hostArguments(tool, network, started)))
    await awaitService(tool, started, given)
  }
  return hosts
}

async function startService(
  tool: ContainerTool,
  network: string,
  container: string,
  { given, service, hosts }: { given: PlaceInput; service: JobService; hosts: readonly string[] },
): Promise<Started> {
  const image = imageOf(given.expand(service.name))
  await pull(tool, image, service, given)
  given.say(`Starting service ${image}...`)
  const names = [...(service.alias ? service.alias.split(/[\s,]+/) : []), ...namesOf(image)]
  const own = (service.variables ?? []).map((one) => [one.key, given.expand(one.value)])
  const env = { ...given.env, ...(Object.fromEntries(own) as Record<string, string>) } // pairs of texts
  await tool.must(
    [
      ...['run', '--detach', ...AT_ONCE, '--name', container, '--network', network],
      ...limitArguments(given.limits),
      ...names.flatMap((name) => ['--network-alias', name]),
      ...hosts,
      ...(await variableArguments(given, container, env)),
      ...entrypointOf(service),
      image,
      ...(service.command ?? []),
    ],
    'runner_system_failure',
  )
  return { container, image, names }
}

async function hostArguments(
  tool: ContainerTool,
  network: string,
  { container, names }: Started,
): Promise<string[]> {
  const format = `{{(index .NetworkSettings.Networks "${network}").IPAddress}}`
  const { text } = await tool.run(['inspect', '--format', format, container])
  const address = text.trim()
  if (!/^[\d.]+$/.test(address)) return []
  return names.flatMap((name) => ['--add-host', `${name}:${address}`])
}

/** Waits until a service listens on the ports that its image names; one that does not come up is no end of the job. */
async function awaitService(
  tool: ContainerTool,
  { container, image }: Started,
  { say, signal }: PlaceInput,
): Promise<void> {
  const ports = await portsOf(tool, image)
  if (ports.length === 0) return
  const until = performance.now() + READY_MS
  while (performance.now() < until && !signal.aborted) {
    // Of the container's own network, as its kernel sees it.
    const look = ['exec', container, 'cat', '/proc/net/tcp', '/proc/net/tcp6']
    const { text } = await tool.run(look)
    if (ports.every((port) => isListening(text, port))) return
    if (!(await isRunning(tool, container))) break
    // An image without that program cannot be asked.
    if (!text.includes('local_address')) return
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
  }
  say(`WARNING: service ${image} does not listen on port ${ports.join(', ')}`)
}

async function portsOf(tool: ContainerTool, image: string): Promise<number[]> {
  const format = '{{range $port, $_ := .Config.ExposedPorts}}{{$port}} {{end}}'
  const { code, text } = await tool.run(['image', 'inspect', '--format', format, image])
  if (code !== 0) return []
  return [...text.matchAll(/(\d+)\/tcp/g)].map(([, port]) => Number(port))
}

const LISTENING = '0A'

function isListening(table: string, port: number): boolean {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  return new RegExp(`:\\s+[0-9A-F]+:${hex}\\s+[0-9A-F]+:0000\\s+${LISTENING}\\s`).test(table)
}

async function isRunning(tool: ContainerTool, container: string): Promise<boolean> {
  const { text } = await tool.run(['inspect', '--format', '{{.State.Running}}', container])
  return text.trim() === 'true'
}

/** What is removed has had its time: podman would wait ten seconds more for it. */
export const AT_ONCE = ['--stop-timeout', '0']

/** The name of an image, as it stands among the arguments of podman: it is neither an option nor a file of this machine. */
export function imageOf(name: string): string {
  if (/^\w/.test(name) && !name.includes(':/')) return name
  throw new JobFailure('image_pull_failure', `${name} is no name of an image`)
}

export async function pull(
  tool: ContainerTool,
  name: string,
  image: JobImage | null | undefined,
  { say }: PlaceInput,
): Promise<void> {
  const policy = image?.pull_policy?.[0]
  if (policy === 'never') return
  if (policy === 'if-not-present' && (await tool.run(['image', 'inspect', name])).code === 0) return
  say(`Pulling image ${name}...`)
  await tool.must(['pull', '--quiet', name], 'image_pull_failure')
}

export function entrypointOf(image: JobImage): string[] {
  const [first] = image.entrypoint ?? []
  return first === undefined ? [] : ['--entrypoint', first]
}

/** `registry.example/a/postgres:15` is reached as `registry.example__a__postgres` and `registry.example-a-postgres`. */
function namesOf(image: string): string[] {
  const name = image.replace(/[:@][^/]*$/, '')
  return [...new Set([name.replaceAll('/', '__'), name.replaceAll('/', '-')])]
}
