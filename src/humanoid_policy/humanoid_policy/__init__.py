"""Learned policies without ROS: metadata of ONNX models, observations, actions, inference."""
