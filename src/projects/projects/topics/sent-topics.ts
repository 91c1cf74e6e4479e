/** What is wrong with the topics of a project; nothing when they are good. */
export function topicFaults(names: readonly string[]): string[] {
  if (names.length > 100) return ['is too long (maximum is 100 topics)']
  if (names.some((name) => name.trim() === '')) return ["can't be blank"]
  return names.some((name) => name.length > 255) ? ['is too long (maximum is 255 characters)'] : []
}

/** The topics that a request names: trimmed, each once (letter case does not make two). */
function cleanTopics(names: readonly string[]): string[] {
  const found = new Map<string, string>()
  for (const name of names.map((one) => one.trim()).filter((one) => one !== '')) {
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), name)
  }
  return [...found.values()]
}

/** The topics of a request, by either name of the parameter; undefined when neither was sent. */
export function sentTopics(body: {
  readonly topics?: readonly string[] | undefined
  readonly tag_list?: readonly string[] | undefined
}): string[] | undefined {
  const names = body.topics ?? body.tag_list
  return names === undefined ? undefined : cleanTopics(names)
}
