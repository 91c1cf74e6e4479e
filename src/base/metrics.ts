/** Upper ends of the classes into which request times fall, in seconds. */
const CLASSES = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** What the process counts about the requests that it answered, since it started. */
export class Metrics {
  readonly #requests = new Map<string, number>()
  readonly #times: number[] = CLASSES.map(() => 0)
  #seconds = 0
  #answered = 0
  #running = 0

  /** Counts a request; the function that is given back is called once it was answered. */
  begin(method: string): (status: number, seconds: number) => void {
    this.#running += 1
    return (status, seconds) => {
      this.#running -= 1
      // Methods are words of the caller's: unknown ones must not fill the memory.
      const key = `method="${METHODS.has(method) ? method : 'other'}",status="${status}"`
      this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1)
      this.#answered += 1
      this.#seconds += seconds
      for (const [at, end] of CLASSES.entries()) {
        if (seconds <= end) this.#times[at] = (this.#times[at] ?? 0) + 1
      }
    }
  }

  /** The lines of the requests, in the text format of Prometheus. */
  lines(): string[] {
    const time = 'gitstead_http_request_duration_seconds'
    return [
      ...about('gitstead_http_requests_total', 'counter', 'Requests that were answered'),
      ...[...this.#requests].sort().map(([key, n]) => `gitstead_http_requests_total{${key}} ${n}`),
      ...metric('gitstead_http_requests_running', 'gauge', 'Requests that are being answered', {
        '': this.#running,
      }),
      ...about(time, 'histogram', 'How long answers took'),
      ...CLASSES.map((end, at) => `${time}_bucket{le="${end}"} ${this.#times[at] ?? 0}`),
      `${time}_bucket{le="+Inf"} ${this.#answered}`,
      `${time}_sum ${this.#seconds}`,
      `${time}_count ${this.#answered}`,
    ]
  }
}

function about(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}

/** One metric with its values by label (`state="ready"`); the empty label is the value without one. */
export function metric(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  values: Readonly<Record<string, number>>,
): string[] {
  const lines = Object.entries(values).map(
    ([label, value]) => `${name}${label === '' ? '' : `{${label}}`} ${value}`,
  )
  return [...about(name, type, help), ...lines]
}
