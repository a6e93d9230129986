// The package of Google alone. GEMINI_API_KEY=… node gemini.ts "Why did the build fail?"
import { type Content, GoogleGenAI } from '@google/genai'
import { ContextManager } from 'spillway'
import { run, tools } from './tools.ts'

const client = new GoogleGenAI({})
const manager = new ContextManager<Content>({ contextWindow: 1_000_000 })
const functionDeclarations = tools.map(({ name, description, inputSchema: parametersJsonSchema }) => {
  return { name, description, parametersJsonSchema }
})

export async function answer(prompt: string): Promise<string> {
  const history: Content[] = [{ role: 'user', parts: [{ text: prompt }] }]
  for (;;) {
    const { messages: contents } = await manager.prepare(history)
    const config = { tools: [{ functionDeclarations }] }
    const response = await client.models.generateContent({ model: 'gemini-3.8-flash', contents, config })
    const content = response.candidates?.[0]?.content
    if (!content || !response.functionCalls?.length) return response.text ?? ''
    history.push(content)
    const parts = response.functionCalls.map(async ({ id, name = '', args }) => {
      const functionResponse = { name, response: { output: await run(name, args) }, ...(id !== undefined && { id }) }
      return { functionResponse }
    })
    history.push({ role: 'user', parts: await Promise.all(parts) })
  }
}

if (process.argv[2]) console.log(await answer(process.argv[2]))
