"""The embedded household behind Unity's side of AI2-THOR's wire protocols.

Programs written for AI2-THOR run on it unchanged: ``Controller(local_executable_path=...)`` starts
``clalfred-player`` as it would start Unity.
"""
