import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateText, stepCountIs, streamText, tool, wrapLanguageModel } from 'ai'
import { HistoryPruner } from 'spillway'
import { type AdapterEvent, type AiSdkControls, contextMiddleware } from 'spillway/ai-sdk'
import { z } from 'zod'
import { mocked, overflowError, resultsOf, type Turn, VERSION } from './mock.ts'
import { type Any, eagerPruner, frozen, longText, snapshot } from './support.ts'

const LONG = longText(300)
const read = tool({ inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => `${path}\n${LONG}` })
const call = (id: string): Turn => ({ calls: [{ id, name: 'read', input: { path: id } }] })

function around(controls: AiSdkControls, ...turns: Turn[]) {
  const { model: base, prompts } = mocked(...turns)
  const events: AdapterEvent[] = []
  const onEvent = (event: AdapterEvent) => events.push(event)
  const middleware = contextMiddleware({ onEvent, ...controls })
  return { model: wrapLanguageModel({ model: base as Any, middleware }), prompts, events }
}

const shown = (prompt: Any[] | undefined) => resultsOf(prompt).map(({ output }) => String(output.value))
const wholes = (prompt: Any[] | undefined) => shown(prompt).filter((text) => text.includes(LONG)).length

/** Returns a history with `results` results. */
function history(results: number): Any[] {
  const turns = Array.from({ length: results }, (_, at) => [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: `h${at}`, toolName: 'read', input: { path: 'x' } }],
    },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: `h${at}`, toolName: 'read', output: { type: 'text', value: LONG } }],
    },
  ])
  return frozen([{ role: 'user', content: 'go' }, ...turns.flat(), { role: 'user', content: 'and now?' }])
}

test('old results are left out of requests, and are all there afterwards', async () => {
  const { model, prompts, events } = around({ history: eagerPruner(1) }, ...['a', 'b', 'c'].map(call), { text: 'done' })
  const result = await generateText({ model, tools: { read }, prompt: 'go', stopWhen: stepCountIs(9) })
  assert.deepEqual(prompts.map(wholes), [0, 1, 1, 1])
  // A pruned result has the same bytes in every later request.
  assert.equal(shown(prompts[2])[0], shown(prompts[3])[0])
  assert.equal(resultsOf(prompts[3]).length, 3)
  const stored = result.steps.flatMap(({ toolResults }) => toolResults as Any[]).map(({ output }) => output)
  assert.deepEqual(
    stored,
    ['a', 'b', 'c'].map((path) => `${path}\n${LONG}`),
  )
  assert.equal(wholes((result as Any).responseMessages ?? result.response.messages), 3)
  assert.equal(events.filter(({ type }) => type === 'prepared').length, 4)
})

test('each session has a pruner of its own', async () => {
  const asked: (string | undefined)[] = []
  const { model } = around(
    {
      history: (sessionId) => {
        asked.push(sessionId)
        return new HistoryPruner()
      },
    },
    { text: 'done' },
  )
  for (const sessionId of ['one', 'two', 'one']) {
    await generateText({ model, prompt: 'go', providerOptions: { spillway: { sessionId } } })
  }
  await generateText({ model, prompt: 'go' })
  assert.deepEqual(asked, ['one', 'two', undefined])
})

for (const kind of ['generate', 'stream'] as const) {
  const run = async (model: Any, messages: Any[], errors: unknown[] = []) => {
    if (kind === 'generate') return (await generateText({ model, messages, maxRetries: 0 })).text
    const onError = ({ error }: { error: unknown }) => void errors.push(error)
    const result = streamText({ model, messages, maxRetries: 0, onError })
    let text = ''
    for await (const delta of result.textStream) text += delta
    return text
  }

  test(`${kind}: retries a request that was too long, shortened`, async () => {
    const messages = history(40)
    const before = snapshot(messages)
    const { model, prompts, events } = around({}, { error: overflowError() }, { text: 'answer' })
    assert.equal(await run(model, messages), 'answer')
    assert.equal(prompts.length, 2)
    assert.ok(snapshot(prompts[1]).length < snapshot(prompts[0]).length * 0.97)
    assert.equal(resultsOf(prompts[1]).length, 40)
    assert.equal(snapshot(messages), before)
    const recovered = events.find(({ type }) => type === 'recovered') as Any
    assert.equal(recovered.overflow.limitTokens, 200_000)
    // The next request of the session does not run into it again, and begins with the same bytes.
    const more = frozen([
      ...messages,
      { role: 'assistant', content: 'answer' },
      { role: 'user', content: 'thanks' },
    ]) as Any[]
    assert.equal(await run(model, more), 'answer')
    assert.equal(prompts.length, 3)
    assert.deepEqual(prompts[2]?.slice(0, prompts[1]?.length), prompts[1])
  })

  test(`${kind}: an overflow that stays is retried three times, and comes through unchanged`, async () => {
    const error = overflowError()
    const errors: unknown[] = []
    const { model, prompts } = around({}, { error })
    const answer = run(model, history(40), errors)
    if (kind === 'generate') await assert.rejects(answer, (thrown) => thrown === error)
    else {
      await answer.catch(() => {})
      assert.equal(errors[0], error)
    }
    assert.equal(prompts.length, 4)
  })

  test(`${kind}: other errors are none of our business`, async () => {
    const error = new Error('rate limit reached, 429')
    const errors: unknown[] = []
    const { model, prompts } = around({}, { error })
    const answer = run(model, history(40), errors)
    if (kind === 'generate') await assert.rejects(answer, (thrown) => thrown === error)
    else {
      await answer.catch(() => {})
      assert.equal(errors[0], error)
    }
    assert.equal(prompts.length, 1)
  })

  test(`${kind}: an answer for which there was no room`, {
    skip: VERSION === 5 && 'version 5 does not say why',
  }, async () => {
    const { model, prompts } = around({}, { full: true }, { text: 'answer' })
    assert.equal(await run(model, history(40)), 'answer')
    assert.equal(prompts.length, 2)
  })

  test(`${kind}: a pruner that fails costs no request`, async () => {
    const messages = history(3)
    for (const broken of [
      { prune: () => Promise.reject(new Error('broken')) },
      { prepare: () => ({ messages: 'none' }) as Any },
      { prune: () => ({ messages: [] }) },
    ]) {
      const { model, prompts, events } = around({ history: broken }, { text: 'answer' })
      assert.equal(await run(model, messages), 'answer')
      assert.equal(wholes(prompts[0]), 3)
      assert.deepEqual(
        events.map(({ type }) => type),
        ['error'],
      )
    }
  })

  test(`${kind}: recovery that is switched off`, async () => {
    const error = overflowError()
    const { model, prompts } = around({ recovery: false }, { error })
    await run(model, history(40)).catch(() => {})
    assert.equal(prompts.length, 1)
  })

  test(`${kind}: the caller's compaction, once for all later requests`, async () => {
    let compactions = 0
    const recovery = {
      contextWindowTokens: 8000,
      compact: (messages: unknown[]) => {
        compactions++
        return [{ role: 'user', content: [{ type: 'text', text: 'a summary' }] }, messages.at(-1)]
      },
    }
    const messages = frozen([
      { role: 'user', content: longText(2000) },
      { role: 'assistant', content: 'yes' },
      { role: 'user', content: 'and now?' },
    ])
    const { model, prompts } = around({ recovery }, { error: overflowError() }, { text: 'answer' })
    assert.equal(await run(model, messages), 'answer')
    assert.equal(prompts[1]?.length, 2)
    await run(model, [...messages, { role: 'assistant', content: 'answer' }, { role: 'user', content: 'more' }])
    assert.equal(prompts[2]?.length, 4)
    assert.equal(compactions, 1)
  })
}

test('stream: an error before the answer starts it again, an error in it does not', async () => {
  const { model, prompts } = around({}, { streamError: overflowError() }, { text: 'answer' })
  const result = streamText({ model, messages: history(40), maxRetries: 0 })
  assert.equal(await result.text, 'answer')
  assert.equal(prompts.length, 2)
})

test('a signal that says stop ends the recovery', async () => {
  const abort = new AbortController()
  const error = overflowError()
  const recovery = {
    contextWindowTokens: 8000,
    compact: () => {
      abort.abort()
      return new Promise<never>(() => {})
    },
  }
  const { model, prompts } = around({ recovery }, { error })
  const messages = [{ role: 'user', content: longText(3000) }] as Any[]
  await assert.rejects(generateText({ model, messages, maxRetries: 0, abortSignal: abort.signal }))
  assert.equal(prompts.length, 1)
})
