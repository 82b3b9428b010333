"""A language model that is asked about recorded answers, over any OpenAI-compatible endpoint.

questions.py ──► client.py ──► cache.py, or the endpoint
                     └──► metrics/judged.py, agreement.py
"""
